package roselle.engine;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.lang.ref.Reference;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import roselle.api.GenerationRequest;
import roselle.backend.DeviceOptions;
import roselle.cpu.CpuDevice;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.EngineConfig.CacheOptions;

/**
 * Measures what a decoding step of a whole engine allocates: mailbox, plan, forward, sampling, commit and the tokens' way out
 * on the engine's thread, and the shares of the pool's thread; runs in a process of its own.
 *
 * <p>Vectors are objects until the optimising compiler has seen their methods, and those are many: it runs until a hundred
 * steps in a row allocate no more than they may, or gives up. The test starts it with the compiler in the foreground, so that a
 * busy machine makes it slower but not different.
 */
public final class AllocationProbe implements StepHook {
    private static final int STEPS = 100;
    private static final int PATIENCE_STEPS = 20_000;

    /** Of a leak, which never is quiet: three times what the others need. */
    private static final int STEPS_OF_A_LEAK = 4_000;

    private static final int ANSWER = 200;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final int sequences;
    private final boolean leaks;
    private final Overlap overlap;
    private final long statusBytes = statusBytes();
    private final Object[] leaked = new Object[STEPS];
    private final long[] engine = new long[STEPS + 1];
    private final long[] pool = new long[STEPS + 1];
    private long[] poolThreads = {};
    private int step;
    private int total;
    private volatile boolean isDone;

    private AllocationProbe(int sequences, boolean leaks, Overlap overlap) {
        this.sequences = sequences;
        this.leaks = leaks;
        this.overlap = overlap;
    }

    /** Model, how many sequences, whether to allocate an object for each sequence, so that it shows, and whether to overlap. */
    public static void main(String[] arguments) {
        var probe = new AllocationProbe(
                Integer.parseInt(arguments[1]), Boolean.parseBoolean(arguments[2]), Overlap.of(arguments[3]));
        probe.measure(Path.of(arguments[0]));
        System.out.println("engine " + probe.median(probe.engine) + " status " + probe.statusBytes + " pool "
                + probe.largest(probe.pool) + " after " + probe.total + " steps");
    }

    /** What one status with its totals takes in this JVM: all that a step may allocate. */
    private static long statusBytes() {
        long first = bytesOfStatuses(); // with what loading the classes takes
        return Math.min(first, bytesOfStatuses()) / STEPS;
    }

    private static long bytesOfStatuses() {
        var kept = new EngineStatus[STEPS];
        long before = THREADS.getCurrentThreadAllocatedBytes();
        try {
            for (int i = 0; i < STEPS; i++) {
                kept[i] = new EngineStatus(
                        true, i, 0, 0, 0, 0, 0, 0, new EngineTotals(i, 0, 0, 0, 0, 0, 0, 0), 0, 0, "", "");
            }
            return THREADS.getCurrentThreadAllocatedBytes() - before;
        } finally {
            Reference.reachabilityFence(kept);
        }
    }

    private void measure(Path model) {
        var config = EngineConfig.of(model)
                .with(new BatchOptions(256, 8, 64, 0, 100))
                .with(new DeviceOptions("cpu", 2))
                .with(new CacheOptions("auto", 64L << 20, 16, true))
                .with(overlap);
        try (var engineUnderTest = EngineOnDevice.open(config, new CpuDevice(2), this)) {
            while (!isDone) {
                var generations = new ArrayList<Generation>();
                for (int i = 0; i < sequences; i++) {
                    generations.add(engineUnderTest.submit(request(i)));
                }
                for (Generation generation : generations) {
                    generation.text();
                }
            }
        }
    }

    /** Every second one greedy, the others through all filters, and penalties unless those would keep steps from overlapping. */
    private GenerationRequest request(int number) {
        var builder = GenerationRequest.builder()
                .tokens(5, 6, 7 + number)
                .ignoreEos(true)
                .maxTokens(ANSWER)
                .temperature(0);
        if (number % 2 == 1) {
            builder.temperature(0.9).topK(50).topP(0.95).minP(0.01).seed(7);
        }
        if (number % 2 == 1 && overlap == Overlap.OFF) {
            builder.repetitionPenalty(1.1).frequencyPenalty(0.1);
        }
        return builder.build();
    }

    @Override
    public void beforeStep(roselle.scheduler.Scheduler scheduler) {
        boolean isOverlapped = overlap == Overlap.OFF || scheduler.isStepUnderWay();
        if (isDone || scheduler.running() != sequences || !isOverlapped) {
            step = 0;
            return;
        }
        if (poolThreads.length == 0) {
            poolThreads = poolThreads();
        }
        if (leaks) {
            for (int i = 0; i < sequences; i++) {
                leaked[(step + i) % STEPS] = new Object();
            }
        }
        engine[step] = THREADS.getCurrentThreadAllocatedBytes();
        pool[step] = 0;
        for (long thread : poolThreads) {
            pool[step] += THREADS.getThreadAllocatedBytes(thread);
        }
        total++;
        if (step++ == STEPS) {
            step = 0;
            isDone = isQuiet() || total > (leaks ? STEPS_OF_A_LEAK : PATIENCE_STEPS);
        }
    }

    /** The CPU's, and the one that runs steps given ahead. */
    private static long[] poolThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().matches("roselle-(cpu-.*|steps)"))
                .mapToLong(Thread::threadId)
                .toArray();
    }

    private boolean isQuiet() {
        return largest(pool) == 0 && median(engine) <= statusBytes;
    }

    /** The bytes of a step, as most steps have them: now and then one begins a new chunk of a channel. */
    private long median(long[] readings) {
        long[] steps = differences(readings);
        Arrays.sort(steps);
        return steps[steps.length / 2];
    }

    private long largest(long[] readings) {
        return Arrays.stream(differences(readings)).max().orElseThrow();
    }

    private static long[] differences(long[] readings) {
        var steps = new long[STEPS];
        Arrays.setAll(steps, i -> readings[i + 1] - readings[i]);
        return steps;
    }
}
