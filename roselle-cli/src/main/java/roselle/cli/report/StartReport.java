package roselle.cli.report;

import java.util.function.Consumer;
import roselle.engine.EnginePlan;
import roselle.engine.StartObserver;

/**
 * What the commands say while an engine starts.
 *
 * @param plan hears what the engine will take
 * @param loading hears how loading gets on
 */
public record StartReport(Consumer<EnginePlan> plan, StartObserver loading) implements StartObserver {
    @Override
    public void planned(EnginePlan settled) {
        plan.accept(settled);
    }

    @Override
    public void loaded(long bytes, long totalBytes) {
        loading.loaded(bytes, totalBytes);
    }
}
