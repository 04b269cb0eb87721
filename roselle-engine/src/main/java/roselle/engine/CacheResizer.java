package roselle.engine;

import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import roselle.api.CapacityException;
import roselle.execution.Executor;
import roselle.kvcache.PageCache;

/**
 * Brings the cache of a running engine to the size that somebody asked for; of the engine's thread.
 *
 * <p>It grows at once. It shrinks by what is free or can be evicted, and by the rest when sequences give their pages up: in each turn
 * as far as it can. Who asks again is obeyed instead, and both hear when that is reached.
 */
final class CacheResizer {
    private final PageCache cache;
    private final Executor executor;
    private final int[] least; // [groups] pages
    private final long[] pageBytes; // [groups]
    private final int[] wanted; // [groups] pages
    private @Nullable CompletableFuture<Void> asked; // completed when the pools have what is wanted
    private boolean sleeps;
    private boolean isDeviceAsleep;

    CacheResizer(PageCache cache, Executor executor, EngineSizes sizes) {
        this.cache = cache;
        this.executor = executor;
        least = sizes.leastPages().stream().mapToInt(Integer::intValue).toArray();
        pageBytes = sizes.pageBytes();
        wanted = layoutPages();
    }

    /** Wants so many bytes, of each group the same part of what can be had; no less than the least and no more than there are. */
    void want(long bytes, CompletableFuture<Void> done) {
        double part = (bytes - bytes(least)) / (double) Math.max(1, bytes(layoutPages()) - bytes(least));
        for (int group = 0; group < wanted.length; group++) {
            int range = cache.layout().poolPages(group) - least[group];
            wanted[group] = least[group] + Math.clamp((long) (range * part), 0, range);
        }
        await(done);
    }

    /**
     * Begins with so many bytes, of a device that gives pages back; of others with all pages, which have their memory already.
     *
     * @throws roselle.api.CapacityException if the device has not that much
     */
    void begin(long bytes) {
        if (!executor.givesPagesBack()) {
            return;
        }
        want(bytes, new CompletableFuture<>());
        asked = null;
        for (int group = 0; group < wanted.length; group++) {
            cache.resize(group, wanted[group]);
            executor.takeBack(group, IntStream.range(0, wanted[group]).toArray());
        }
    }

    /** Wants nothing until {@link #wake}. */
    void sleep(CompletableFuture<Void> done) {
        sleeps = true;
        await(done);
    }

    void wake(CompletableFuture<Void> done) {
        sleeps = false;
        await(done);
    }

    boolean sleeps() {
        return sleeps;
    }

    private void await(CompletableFuture<Void> done) {
        CompletableFuture<Void> before = asked;
        if (before != null) {
            var _ = done.thenRun(() -> before.complete(null));
        }
        asked = done;
    }

    private int[] layoutPages() {
        return cache.layout().pages().stream().mapToInt(Integer::intValue).toArray();
    }

    private long bytes(int[] pages) {
        long bytes = 0;
        for (int group = 0; group < pages.length; group++) {
            bytes += pages[group] * pageBytes[group];
        }
        return bytes;
    }

    /** Goes on with what is not reached yet; returns whether that has been done now. */
    boolean proceed() {
        CompletableFuture<Void> done = asked;
        if (done == null) {
            return false;
        }
        boolean wasAsleep = isDeviceAsleep;
        try {
            wakeDevice();
            boolean isReached = true;
            for (int group = 0; group < wanted.length; group++) {
                isReached &= proceed(group, sleeps ? 0 : wanted[group]);
            }
            if (!isReached) {
                return false;
            }
            sleepDevice();
        } catch (CapacityException full) {
            asked = null;
            if (wasAsleep) {
                sleepOn();
            }
            done.completeExceptionally(full);
            return true;
        }
        asked = null;
        done.complete(null);
        return true;
    }

    /** Gives back what was had of the memory that others have. */
    private void sleepOn() {
        sleeps = true;
        for (int group = 0; group < wanted.length; group++) {
            proceed(group, 0);
        }
        sleepDevice();
    }

    private void wakeDevice() {
        if (!sleeps && isDeviceAsleep) {
            executor.wake();
            isDeviceAsleep = false;
        }
    }

    private void sleepDevice() {
        if (sleeps && !isDeviceAsleep) {
            executor.sleep();
            isDeviceAsleep = true;
        }
    }

    /** Whether it is to be awake and has its weights. */
    boolean isAwake() {
        return !sleeps && !isDeviceAsleep;
    }

    private boolean proceed(int group, int pages) {
        boolean grows = pages > cache.total(group);
        int[] moved = cache.resize(group, pages);
        if (moved.length > 0 && grows) {
            takeBack(group, moved);
        } else if (moved.length > 0) {
            executor.lend(group, moved);
        }
        return cache.total(group) == pages;
    }

    /** Pages whose memory is not there are lent again. */
    private void takeBack(int group, int[] pages) {
        try {
            executor.takeBack(group, pages);
        } catch (CapacityException full) {
            cache.resize(group, cache.total(group) - pages.length);
            throw full;
        }
    }

    /** Tells who waits that it will not be reached. */
    void fail(RuntimeException failure) {
        CompletableFuture<Void> done = asked;
        asked = null;
        if (done != null) {
            done.completeExceptionally(failure);
        }
    }
}
