package roselle.server.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import roselle.backend.DeviceOptions;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.EngineConfig.CacheOptions;
import roselle.engine.EngineStatus;
import roselle.engine.HookedEngine;
import roselle.server.Server;
import roselle.server.config.ListenOptions;
import roselle.server.config.ServedModel;
import roselle.server.config.ServerConfig;

/** A server of the null model on a free port. */
final class NullServer implements AutoCloseable {
    final Engine engine;
    final Server server;

    /** Whether a step that has begun goes on for now. */
    volatile boolean isHeld;

    /** How long a step takes at least, as if a device computed it. */
    volatile long stepNanos;

    /**
     * Serves.
     *
     * @param sequences answers made at a time
     * @param queue answers that wait
     * @param stepNanos how long a step takes at least
     */
    NullServer(int sequences, int queue, long stepNanos) {
        this.stepNanos = stepNanos;
        var config = EngineConfig.of(NullModel.write())
                .with(new DeviceOptions("cpu", 1))
                .with(new CacheOptions("f32", 256L << 20, 16, true))
                .with(new BatchOptions(256, sequences, Math.max(512, 2 * sequences), 0, queue));
        engine = HookedEngine.open(config, this::pace);
        server = Server.start(
                ServerConfig.DEFAULT.with(new ListenOptions("127.0.0.1", 0)), new ServedModel("null", engine));
    }

    private void pace() {
        while (isHeld) {
            LockSupport.parkNanos(1_000_000);
        }
        long nanos = stepNanos;
        long end = System.nanoTime() + nanos;
        for (long rest = nanos; rest > 0; rest = end - System.nanoTime()) {
            LockSupport.parkNanos(rest);
        }
    }

    int port() {
        return server.port();
    }

    EngineStatus status() {
        return engine.status();
    }

    /** Waits until nothing is under way, and requires that every page is free or cached. */
    void requireConserved() {
        await(() -> status().running() + status().waiting() + status().preempted() == 0 && status().usedPages() == 0);
        assertThat(status().cachedPages()).isBetween(0, status().totalPages());
        assertThat(status().isAlive()).isTrue();
    }

    static void await(BooleanSupplier condition) {
        long end = System.nanoTime() + 180_000_000_000L;
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("waited 180 seconds").isLessThan(end);
            LockSupport.parkNanos(1_000_000);
        }
    }

    /** Descriptors of files and sockets that this process has open. */
    static long descriptors() {
        return system().getOpenFileDescriptorCount();
    }

    /** As many as it may have. */
    static long mostDescriptors() {
        return system().getMaxFileDescriptorCount();
    }

    private static com.sun.management.UnixOperatingSystemMXBean system() {
        return (com.sun.management.UnixOperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    }

    /** Most threads that the JVM may add for virtual ones: carriers, and those that wait in their place. */
    static int carriers() {
        return 50 + 4 * Runtime.getRuntime().availableProcessors();
    }

    static int platformThreads() {
        return ManagementFactory.getThreadMXBean().getThreadCount();
    }

    /** How late this machine wakes a thread that only sleeps, at p99: what a busy one adds to every time. */
    static double wakeUpMillis() {
        long[] late = new long[500];
        for (int nap = 0; nap < late.length; nap++) {
            long due = System.nanoTime() + 1_000_000;
            LockSupport.parkNanos(1_000_000);
            late[nap] = Math.max(0, System.nanoTime() - due);
        }
        Arrays.sort(late);
        return millis(late, 0.99);
    }

    /** The p-th part of sorted times, in milliseconds. */
    static double millis(long[] sortedNanos, double part) {
        return sortedNanos[(int) Math.min(sortedNanos.length - 1L, Math.round(part * sortedNanos.length))] / 1e6;
    }

    @Override
    public void close() {
        isHeld = false;
        server.close();
        engine.close();
    }
}
