package roselle.engine;

import roselle.scheduler.Scheduler;

/**
 * Tells the flight recorder of each step; the engine's thread alone uses it.
 *
 * <p>It allocates nothing: the event is one object, and the recorder copies what it has when it is committed. While no recording
 * wants steps, a step costs five readings of the clock.
 */
final class StepRecorder {
    private final StepEvent event = new StepEvent();
    private long lastNanos;

    /** A step is about to be planned. */
    void begin() {
        event.begin();
        lastNanos = System.nanoTime();
    }

    void planned() {
        event.planNanos = lap();
    }

    void forwarded() {
        event.forwardNanos = lap();
    }

    void sampled() {
        event.sampleNanos = lap();
    }

    /** The step is over; {@code status} is as of its end. */
    void end(Scheduler scheduler, EngineStatus status, int rows, int sequences) {
        event.commitNanos = lap();
        event.end();
        if (!event.shouldCommit()) {
            return;
        }
        event.number = status.totals().steps();
        event.rows = rows;
        event.sequences = sequences;
        event.running = scheduler.running();
        event.waiting = scheduler.waiting();
        event.preempted = scheduler.preempted();
        event.usedPages = status.usedPages();
        event.totalPages = status.totalPages();
        event.commit();
    }

    private long lap() {
        long now = System.nanoTime();
        long lap = now - lastNanos;
        lastNanos = now;
        return lap;
    }
}
