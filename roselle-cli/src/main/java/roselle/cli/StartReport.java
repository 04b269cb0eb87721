package roselle.cli;

import java.util.function.Consumer;
import roselle.engine.Engine;
import roselle.engine.EnginePlan;
import roselle.engine.StartObserver;

/**
 * What the commands say while an engine starts.
 *
 * @param plan hears what the engine will take
 * @param loading hears how loading gets on
 * @param warmUp gets the engine while it warms up
 */
record StartReport(Consumer<EnginePlan> plan, StartObserver loading, Consumer<Engine> warmUp) implements StartObserver {
    @Override
    public void planned(EnginePlan settled) {
        plan.accept(settled);
    }

    @Override
    public void loaded(long bytes, long totalBytes) {
        loading.loaded(bytes, totalBytes);
    }

    @Override
    public void warmsUp(Engine engine) {
        warmUp.accept(engine);
    }
}
