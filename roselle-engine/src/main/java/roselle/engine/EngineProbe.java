package roselle.engine;

import org.jspecify.annotations.Nullable;
import roselle.kvcache.PageCache;
import roselle.scheduler.Scheduler;
import roselle.scheduler.Totals;

/** Leaves the engine's numbers where other threads can read them; the engine's thread writes. */
final class EngineProbe {
    private static final long RESTING = 0;

    private final String device;
    private final PageCache cache;
    private final long[] pageBytes; // [groups]
    private long steps;
    private long rows;
    private long lastStepNanos;
    private long stepNanos;
    private volatile long turnBegan = RESTING;
    private volatile EngineStatus latest;

    EngineProbe(String device, PageCache cache, long[] pageBytes, Scheduler scheduler) {
        this.device = device;
        this.cache = cache;
        this.pageBytes = pageBytes;
        latest = snapshot(scheduler);
    }

    /** Takes note that nothing ran. */
    void idle(Scheduler scheduler) {
        latest = snapshot(scheduler);
    }

    /** A turn of the loop begins; others see by it whether the loop goes on. */
    void turnBegins(long now) {
        turnBegan = now == RESTING ? 1 : now;
    }

    /** The loop waits for something to do. */
    void rests() {
        turnBegan = RESTING;
    }

    EngineStatus stepped(Scheduler scheduler, int stepRows, long nanos) {
        steps++;
        rows += stepRows;
        lastStepNanos = nanos;
        stepNanos += nanos;
        EngineStatus now = snapshot(scheduler);
        latest = now;
        return now;
    }

    private EngineStatus snapshot(Scheduler scheduler) {
        int used = 0;
        int cached = 0;
        int total = 0;
        long bytes = 0;
        for (int group = 0; group < cache.layout().groupCount(); group++) {
            int pages = cache.total(group);
            bytes += pages * pageBytes[group];
            int available = cache.available(group);
            total += pages;
            used += pages - available;
            cached += available - cache.free(group);
        }
        return new EngineStatus(
                true,
                scheduler.waiting(),
                scheduler.preempted(),
                scheduler.running(),
                used,
                cached,
                total,
                bytes,
                totals(scheduler.totals()),
                lastStepNanos,
                0,
                device,
                scheduler.lastFailure());
    }

    private EngineTotals totals(Totals counted) {
        return new EngineTotals(
                steps,
                stepNanos,
                rows,
                counted.promptTokens(),
                counted.cachedTokens(),
                counted.generatedTokens(),
                counted.preemptions(),
                counted.forcedTokens());
    }

    /** The status of this moment; {@code death} is why the engine ended, or null. */
    EngineStatus status(@Nullable String death) {
        EngineStatus now = latest;
        long began = turnBegan;
        return new EngineStatus(
                death == null,
                now.waiting(),
                now.preempted(),
                now.running(),
                now.usedPages(),
                now.cachedPages(),
                now.totalPages(),
                now.cacheBytes(),
                now.totals(),
                now.lastStepNanos(),
                began == RESTING ? 0 : Math.max(0, System.nanoTime() - began),
                now.device(),
                death == null ? now.failure() : death);
    }
}
