package roselle.engine;

import roselle.batch.Batch;
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
    private long planAheadNanos; // of the step after this one
    private long forwardAheadNanos;

    /** A step is about to be planned, or to be awaited; returns when. */
    long begin() {
        event.begin();
        event.overlapped = forwardAheadNanos > 0;
        event.planNanos = planAheadNanos;
        event.forwardNanos = forwardAheadNanos;
        planAheadNanos = 0;
        forwardAheadNanos = 0;
        lastNanos = System.nanoTime();
        return lastNanos;
    }

    void planned() {
        event.planNanos += lap();
    }

    void forwarded() {
        event.forwardNanos = lap();
    }

    /** The step after this one was planned, or found to need this one's tokens first. */
    void plannedAhead() {
        planAheadNanos = lap();
    }

    void forwardedAhead() {
        forwardAheadNanos = Math.max(1, lap());
    }

    void sampled() {
        event.sampleNanos = lap();
    }

    /** The step is over; {@code status} is as of its end. */
    void end(Scheduler scheduler, EngineStatus status, Batch batch) {
        event.commitNanos = lap();
        event.end();
        if (!event.shouldCommit()) {
            return;
        }
        event.number = status.totals().steps();
        event.rows = batch.totalRows();
        event.sequences = batch.size();
        event.dropped = batch.dropped();
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
