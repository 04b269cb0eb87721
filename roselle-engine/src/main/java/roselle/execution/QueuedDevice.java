package roselle.execution;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import roselle.backend.Device;
import roselle.backend.Phase;
import roselle.backend.memory.Adapter;
import roselle.backend.memory.AdapterPart;
import roselle.backend.memory.Buffer;
import roselle.backend.memory.KvCache;
import roselle.backend.memory.KvGroup;
import roselle.backend.memory.KvType;
import roselle.backend.memory.Rows;
import roselle.backend.memory.SpareMemory;
import roselle.backend.memory.Weight;
import roselle.backend.step.SampledTokens;
import roselle.backend.step.SamplingRows;
import roselle.backend.step.StepDemands;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepProgram;
import roselle.quantization.StoredMatrix;
import roselle.sampling.Sampler;
import roselle.tensor.DataType;

/**
 * A device that computes when it is called, as one that is given work ahead: steps and samplings run on a thread of their own,
 * in the order in which they came, by the host's sampler.
 *
 * <p>One thread gives work, and what it calls beside {@link #submit}, {@link #launchSample} and {@link #collectSample} waits until
 * all work is done. Programs get the operations of the device itself. A failure of a step is thrown to whoever waits next.
 */
public final class QueuedDevice implements Device {
    private static final int JOBS = 4; // two steps and their samplings
    private static final int SPINS = 200;

    private final Device device;
    private final Job[] jobs = new Job[JOBS];
    private final Thread worker = new Thread(this::work, "roselle-steps");
    private final Arena arena = Arena.ofShared();
    private final AtomicLong given = new AtomicLong(); // jobs
    private final AtomicLong done = new AtomicLong();
    private volatile boolean isClosed;
    private volatile boolean isWorkerParked;
    private volatile @Nullable Thread waiter;
    private volatile @Nullable Throwable failure;
    private int @Nullable [] lastTokens; // [maxOutputs] what was sampled last; the worker's
    private @Nullable Sampler sampler;
    private MemorySegment row = MemorySegment.NULL; // [vocabulary]
    private MemorySegment returned = MemorySegment.NULL; // [2, MAX_RETURNED, vocabulary], used in turn
    private int turn;

    /** A step, or the sampling of its tokens. */
    private static final class Job {
        boolean isStep;

        @Nullable
        StepInputs inputs; // a copy: the caller's may change

        @Nullable
        StepProgram program;

        @Nullable
        SamplingRows rows;

        @Nullable
        SampledTokens tokens;

        @Nullable
        Rows logits;
    }

    /** Takes over a device and closes it. */
    public QueuedDevice(Device device) {
        this.device = device;
        for (int i = 0; i < JOBS; i++) {
            jobs[i] = new Job();
        }
        worker.setDaemon(true);
        worker.start();
    }

    private Job nextJob() {
        awaitDone(given.get() - JOBS + 1);
        return jobs[(int) (given.get() % JOBS)];
    }

    private void give() {
        given.incrementAndGet();
        if (isWorkerParked) {
            LockSupport.unpark(worker);
        }
    }

    /** Waits until so many jobs are done. */
    private void awaitDone(long count) {
        for (int spins = 0; done.get() < count; spins++) {
            if (spins < SPINS) {
                Thread.onSpinWait();
            } else {
                waiter = Thread.currentThread();
                if (done.get() < count) {
                    LockSupport.park(this);
                }
                waiter = null;
            }
        }
        switch (failure) {
            case null -> {}
            case RuntimeException thrown -> throw thrown;
            case Error thrown -> throw thrown;
            case Throwable thrown -> throw new IllegalStateException("a step failed", thrown);
        }
    }

    private void settle() {
        awaitDone(given.get());
    }

    private void work() {
        while (awaitJob()) {
            try {
                if (failure == null) { // what follows a failure has nothing to work on
                    run(jobs[(int) (done.get() % JOBS)]);
                }
            } catch (Throwable thrown) {
                failure = thrown;
            }
            done.incrementAndGet();
            Thread waiting = waiter;
            if (waiting != null) {
                LockSupport.unpark(waiting);
            }
        }
    }

    private boolean awaitJob() {
        for (int spins = 0; given.get() == done.get(); spins++) {
            if (isClosed) {
                return false;
            }
            if (spins < SPINS) {
                Thread.onSpinWait();
            } else {
                isWorkerParked = true;
                if (given.get() == done.get() && !isClosed) {
                    LockSupport.park(this);
                }
                isWorkerParked = false;
            }
        }
        return true;
    }

    private void run(Job job) {
        if (job.isStep && job.inputs != null && job.program != null) {
            takeSampled(job.inputs);
            device.submit(job.inputs, job.program);
        } else if (job.rows != null && job.tokens != null && job.logits != null) {
            sample(job.logits, job.rows, job.tokens, lastTokens(job.rows));
        }
    }

    private void takeSampled(StepInputs inputs) {
        int[] last = lastTokens;
        if (!inputs.takesSampled || last == null) {
            return;
        }
        for (int r = 0; r < inputs.rows; r++) {
            if (inputs.sampledRow[r] >= 0) {
                inputs.tokenIds[r] = last[inputs.sampledRow[r]];
            }
        }
    }

    private int[] lastTokens(SamplingRows rows) {
        int[] last = lastTokens;
        if (last == null || last.length < rows.maxRows()) {
            last = new int[rows.maxRows()];
            lastTokens = last;
        }
        return last;
    }

    private void sample(Rows logits, SamplingRows rows, SampledTokens tokens, int[] last) {
        Sampler host = sampler(logits.columns());
        turn = 1 - turn;
        int saved = turn * SamplingRows.MAX_RETURNED;
        for (int r = 0; r < rows.count; r++) {
            if (rows.place[r] == SamplingRows.Place.DEVICE) {
                device.read(logits, r, 1, row);
                last[r] = Math.max(0, host.sample(row, 0, rows, r, tokens));
            } else if (rows.place[r] == SamplingRows.Place.HOST && rows.returnsLogits) {
                tokens.logits[r] = returned.asSlice(saved++ * row.byteSize(), row.byteSize());
                device.read(logits, r, 1, tokens.logits[r]);
            }
        }
    }

    /** With its memory, which is taken with the first sampling. */
    private Sampler sampler(int vocabulary) {
        Sampler host = sampler;
        if (host == null) {
            host = new Sampler(vocabulary);
            row = arena.allocate(ValueLayout.JAVA_FLOAT, vocabulary);
            returned = arena.allocate(ValueLayout.JAVA_FLOAT, 2L * SamplingRows.MAX_RETURNED * vocabulary);
            sampler = host;
        }
        return host;
    }

    @Override
    public void submit(StepInputs inputs, StepProgram program) {
        Job job = nextJob();
        job.isStep = true;
        if (job.inputs == null || job.inputs.tokenIds.length != inputs.tokenIds.length) {
            job.inputs = inputs.ofSameSizes();
        }
        job.inputs.copyFrom(inputs);
        job.program = program;
        give();
    }

    @Override
    public boolean attendsBothWays() {
        return device.attendsBothWays();
    }

    @Override
    public boolean samples() {
        return true;
    }

    @Override
    public void launchSample(Rows logits, SamplingRows rows, SampledTokens tokens) {
        Job job = nextJob();
        job.isStep = false;
        job.logits = logits;
        job.rows = rows;
        job.tokens = tokens;
        give();
    }

    @Override
    public void collectSample(SampledTokens tokens) {
        long last = given.get() - 1;
        long number = last;
        while (number > last - JOBS + 1 && number > 0 && !samples(jobs[(int) (number % JOBS)], tokens)) {
            number--;
        }
        awaitDone(number + 1);
    }

    private static boolean samples(Job job, SampledTokens tokens) {
        return !job.isStep && job.tokens == tokens;
    }

    @Override
    public String name() {
        return device.name();
    }

    @Override
    public int hostThreads() {
        return device.hostThreads();
    }

    @Override
    public String describe() {
        return device.describe() + ", steps given ahead";
    }

    @Override
    public DataType activationType() {
        return device.activationType();
    }

    @Override
    public OptionalLong memoryBytes() {
        return device.memoryBytes();
    }

    @Override
    public Buffer allocate(DataType type, long elements) {
        settle();
        return device.allocate(type, elements);
    }

    @Override
    public Buffer constants(float[] values) {
        settle();
        return device.constants(values);
    }

    @Override
    public Rows ones(int columns) {
        settle();
        return device.ones(columns);
    }

    @Override
    public Weight load(String name, int matrices, List<StoredMatrix> blocks) {
        settle();
        return device.load(name, matrices, blocks);
    }

    @Override
    public long loadBytes(int matrices, List<StoredMatrix> blocks) {
        return device.loadBytes(matrices, blocks);
    }

    @Override
    public List<Phase> phases() {
        return device.phases();
    }

    @Override
    public long stepBytes(StepDemands demands) {
        return device.stepBytes(demands);
    }

    @Override
    public void prepare(StepDemands demands) {
        settle();
        device.prepare(demands);
    }

    @Override
    public Weight loadTable(String name, StoredMatrix table) {
        settle();
        return device.loadTable(name, table);
    }

    @Override
    public long tableBytes(StoredMatrix table) {
        return device.tableBytes(table);
    }

    @Override
    public List<KvType> kvTypes() {
        return device.kvTypes();
    }

    @Override
    public boolean stacksSharedExperts() {
        return device.stacksSharedExperts();
    }

    @Override
    public long restNanos(int rows, long stepNanos) {
        return device.restNanos(rows, stepNanos);
    }

    @Override
    public boolean takesAdapters() {
        return device.takesAdapters();
    }

    @Override
    public boolean adapts(AdapterPart.Use use) {
        return device.adapts(use);
    }

    @Override
    public Adapter allocateAdapter(List<? extends AdapterPart> parts) {
        return device.allocateAdapter(parts);
    }

    @Override
    public KvCache allocateKvCache(List<KvGroup> groups, KvType type, int pageTokens, int[] pages) {
        settle();
        return device.allocateKvCache(groups, type, pageTokens, pages);
    }

    @Override
    public boolean givesPagesBack() {
        return device.givesPagesBack();
    }

    @Override
    public void givePagesBack(KvCache cache, int group, int[] pages) {
        settle();
        device.givePagesBack(cache, group, pages);
    }

    @Override
    public void takePagesBack(KvCache cache, int group, int[] pages) {
        settle();
        device.takePagesBack(cache, group, pages);
    }

    @Override
    public KvCache reserveKvCache(List<KvGroup> groups, KvType type, int pageTokens, int[] pages) {
        settle();
        return device.reserveKvCache(groups, type, pageTokens, pages);
    }

    @Override
    public void shareSpare(SpareMemory spare) {
        device.shareSpare(spare);
    }

    @Override
    public boolean sleeps() {
        return device.sleeps();
    }

    @Override
    public void sleep() {
        settle();
        device.sleep();
    }

    @Override
    public void wake() {
        settle();
        device.wake();
    }

    @Override
    public void copyPage(KvCache cache, int group, int from, int to) {
        settle();
        device.copyPage(cache, group, from, to);
    }

    @Override
    public void read(Rows source, int firstRow, int rows, MemorySegment target) {
        settle();
        device.read(source, firstRow, rows, target);
    }

    @Override
    public void close() {
        isClosed = true;
        LockSupport.unpark(worker);
        boolean wasInterrupted = false;
        while (worker.isAlive()) {
            try {
                worker.join();
            } catch (InterruptedException interruption) {
                wasInterrupted = true;
            }
        }
        if (wasInterrupted) {
            Thread.currentThread().interrupt();
        }
        device.close();
        arena.close();
    }
}
