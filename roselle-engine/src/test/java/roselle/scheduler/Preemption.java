package roselle.scheduler;

/** Takes pages from sequences between steps, as planning does where they run short. */
public final class Preemption {
    private Preemption() {}

    /** Preempts the sequence that would be next, where any runs. */
    public static void ofYoungest(Scheduler scheduler) {
        if (scheduler.isStepUnderWay()) {
            throw new IllegalStateException("a step is under way, which writes to the pages");
        }
        if (!scheduler.running.isEmpty()) {
            scheduler.planner.preempt(scheduler.running.last());
        }
    }
}
