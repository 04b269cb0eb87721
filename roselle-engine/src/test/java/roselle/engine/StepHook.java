package roselle.engine;

import roselle.scheduler.Scheduler;

/** Sees the scheduler before each turn of the loop, on the engine's thread: how tests force what load would bring about. */
interface StepHook {
    StepHook NONE = scheduler -> {};

    void beforeStep(Scheduler scheduler);

    /** Whether the step after this one may be launched before this one's tokens are known. */
    default boolean letsAhead() {
        return true;
    }
}
