package roselle.engine;

import java.util.function.Function;
import roselle.execution.Executor;
import roselle.scheduler.Scheduler;

/** A loop that asks a test before each turn. */
final class HookedLoop extends EngineLoop {
    private final Scheduler scheduler;
    private final StepHook hook;

    HookedLoop(
            Scheduler scheduler,
            Executor executor,
            EngineProbe probe,
            boolean overlaps,
            Function<Throwable, String> diagnosis,
            StepHook hook) {
        super(scheduler, executor, probe, overlaps, diagnosis);
        this.scheduler = scheduler;
        this.hook = hook;
    }

    @Override
    boolean step() {
        hook.beforeStep(scheduler);
        return super.step();
    }

    @Override
    boolean mayGoAhead() {
        return hook.letsAhead() && super.mayGoAhead();
    }
}
