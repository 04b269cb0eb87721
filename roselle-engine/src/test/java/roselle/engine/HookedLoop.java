package roselle.engine;

import java.util.function.Function;
import roselle.scheduler.Scheduler;

/** A loop that asks a test before each turn. */
final class HookedLoop extends EngineLoop {
    private final Scheduler scheduler;
    private final StepHook hook;

    HookedLoop(LoopParts parts, boolean overlaps, Function<Throwable, String> diagnosis, StepHook hook) {
        super(parts, overlaps, diagnosis);
        scheduler = parts.scheduler();
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
