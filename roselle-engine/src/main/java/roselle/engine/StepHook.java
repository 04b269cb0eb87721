package roselle.engine;

import roselle.scheduler.Scheduler;

/** Sees the scheduler between two steps, on the engine's thread: how tests force what load would bring about. */
interface StepHook {
    StepHook NONE = scheduler -> {};

    void beforeStep(Scheduler scheduler);
}
