package roselle.engine;

import jdk.jfr.FlightRecorder;
import org.jspecify.annotations.Nullable;
import roselle.batch.Batch;
import roselle.scheduler.Scheduler;

/**
 * Tells the flight recorder of each step; the engine's thread alone uses it.
 *
 * <p>It allocates nothing per step: the event is one object, and the recorder copies what it has when it is committed. It is
 * made where the recorder works, because to make an event known takes a cold start 80 ms. While no recording wants steps, a
 * step costs five readings of the clock.
 */
final class StepRecorder {
    private @Nullable StepEvent event;
    private long lastNanos;
    private boolean overlapped;
    private long planNanos;
    private long forwardNanos;
    private long sampleNanos;
    private long planAheadNanos; // of the step after this one
    private long forwardAheadNanos;

    /** A step is about to be planned, or to be awaited; returns when. */
    long begin() {
        if (event == null && FlightRecorder.isInitialized()) {
            event = new StepEvent();
        }
        if (event != null) {
            event.begin();
        }
        overlapped = forwardAheadNanos > 0;
        planNanos = planAheadNanos;
        forwardNanos = forwardAheadNanos;
        planAheadNanos = 0;
        forwardAheadNanos = 0;
        lastNanos = System.nanoTime();
        return lastNanos;
    }

    void planned() {
        planNanos += lap();
    }

    void forwarded() {
        forwardNanos = lap();
    }

    /** The step after this one was planned, or found to need this one's tokens first. */
    void plannedAhead() {
        planAheadNanos = lap();
    }

    void forwardedAhead() {
        forwardAheadNanos = Math.max(1, lap());
    }

    void sampled() {
        sampleNanos = lap();
    }

    /** The step is over; {@code status} is as of its end. */
    void end(Scheduler scheduler, EngineStatus status, Batch batch) {
        long commitNanos = lap();
        StepEvent step = event;
        if (step == null) {
            return;
        }
        step.end();
        if (!step.shouldCommit()) {
            return;
        }
        step.number = status.totals().steps();
        step.rows = batch.totalRows();
        step.sequences = batch.size();
        step.overlapped = overlapped;
        step.dropped = batch.dropped();
        step.running = scheduler.running();
        step.waiting = scheduler.waiting();
        step.preempted = scheduler.preempted();
        step.usedPages = status.usedPages();
        step.totalPages = status.totalPages();
        step.planNanos = planNanos;
        step.forwardNanos = forwardNanos;
        step.sampleNanos = sampleNanos;
        step.commitNanos = commitNanos;
        step.commit();
    }

    private long lap() {
        long now = System.nanoTime();
        long lap = now - lastNanos;
        lastNanos = now;
        return lap;
    }
}
