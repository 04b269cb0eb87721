package roselle.cpu.state;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.util.Objects.requireNonNull;
import static roselle.cpu.vector.Lanes.COUNT;
import static roselle.cpu.vector.Lanes.FLOATS;
import static roselle.cpu.vector.Lanes.ORDER;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import jdk.incubator.vector.FloatVector;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Buffer;
import roselle.backend.memory.Rows;
import roselle.backend.operation.Convolution;
import roselle.backend.step.StepInputs;
import roselle.cpu.memory.CpuBuffer;
import roselle.cpu.memory.CpuKvCache;
import roselle.cpu.memory.Step;
import roselle.cpu.thread.WorkerPool;
import roselle.cpu.vector.Lanes;
import roselle.cpu.vector.VectorFunctions;

/**
 * Convolutions along sequences, a row at a time: taps in ascending order, each fused, from the bias on.
 *
 * <p>A row reads those before it from the step's input and, from before the step, from the cache, so rows are independent.
 */
public final class ChannelConvolution implements WorkerPool.Work {
    /** Fewer rows are not worth a meeting of the threads. */
    private static final int SPLIT_ROWS = 4;

    private final WorkerPool pool;
    private final float[][] sums; // [threads][channels, in whole vectors]

    private @Nullable Step step;
    private @Nullable Rows input;
    private @Nullable Convolution convolution;
    private @Nullable CpuKvCache cache;
    private @Nullable Rows output;

    public ChannelConvolution(WorkerPool pool) {
        this.pool = pool;
        sums = new float[pool.threads()][0];
    }

    /** Convolves and appends the rows of a step. */
    public void run(Step current, Rows rows, Convolution kind, CpuKvCache pages, Rows target) {
        step = current;
        input = rows;
        convolution = kind;
        cache = pages;
        output = target;
        for (int thread = 0; thread < sums.length; thread++) {
            if (sums[thread].length < Lanes.padded(kind.channels())) {
                sums[thread] = new float[Lanes.padded(kind.channels())];
            }
        }
        if (current.rows() < SPLIT_ROWS) {
            rows(0, current.rows(), sums[0]);
        } else {
            pool.run(this);
        }
    }

    @Override
    public void run(int thread, int threads) {
        int rows = requireNonNull(step, "step").rows();
        rows(rows * thread / threads, rows * (thread + 1) / threads, sums[thread]);
    }

    private void rows(int first, int end, float[] sum) {
        Step current = requireNonNull(step, "step");
        Rows from = requireNonNull(input, "input");
        Rows to = requireNonNull(output, "output");
        Convolution kind = requireNonNull(convolution, "convolution");
        CpuKvCache pages = requireNonNull(cache, "cache");
        MemorySegment kept = pages.segment(kind.group());
        int channels = kind.channels();
        for (int r = first; r < end; r++) {
            begin(sum, kind.bias(), channels);
            for (int tap = 0; tap < kind.taps(); tap++) {
                int position = current.position(r) - kind.taps() + 1 + tap;
                addTap(current, r, position, from, kind, tap, pages, sum);
            }
            VectorFunctions.apply(kind.activation(), sum, 0, channels);
            MemorySegment.copy(sum, 0, CpuBuffer.of(to), JAVA_FLOAT, CpuBuffer.row(to, r) * Float.BYTES, channels);
            int page = current.page(kind.group(), r);
            if (page >= 0) {
                long at = pages.row(kind.group(), kind.layer(), page, current.pageToken(r));
                long source = CpuBuffer.row(from, r);
                MemorySegment.copy(
                        CpuBuffer.of(from),
                        source * Float.BYTES,
                        kept,
                        at * Float.BYTES,
                        (long) channels * Float.BYTES);
            }
        }
    }

    private static void begin(float[] sum, @Nullable Buffer bias, int channels) {
        if (bias == null) {
            Arrays.fill(sum, 0, channels, 0f);
        } else {
            MemorySegment.copy(CpuBuffer.of(bias), JAVA_FLOAT, 0, sum, 0, channels);
        }
    }

    /** Adds a tap's product with the input at a position of a row's sequence; before its beginning there is none. */
    private static void addTap(
            Step current, int r, int position, Rows from, Convolution kind, int tap, CpuKvCache pages, float[] sum) {
        if (position < 0) {
            return;
        }
        StepInputs inputs = current.inputs();
        int sequence = current.sequence(r);
        int before = inputs.contextLength[sequence];
        if (position >= before) {
            long at = CpuBuffer.row(from, inputs.rowStart[sequence] + position - before);
            addProducts(CpuBuffer.of(from), at, kind, tap, sum);
            return;
        }
        int page = current.page(kind.group(), sequence, position);
        long at = pages.row(kind.group(), kind.layer(), page, position % inputs.pageTokens);
        addProducts(pages.segment(kind.group()), at, kind, tap, sum);
    }

    private static void addProducts(MemorySegment numbers, long at, Convolution kind, int tap, float[] sum) {
        MemorySegment weight = CpuBuffer.of(kind.weight());
        int channels = kind.channels();
        long weightAt = (long) tap * channels;
        int c = 0;
        for (; c + COUNT <= channels; c += COUNT) {
            FloatVector x = FloatVector.fromMemorySegment(FLOATS, numbers, (at + c) * Float.BYTES, ORDER);
            FloatVector w = FloatVector.fromMemorySegment(FLOATS, weight, (weightAt + c) * Float.BYTES, ORDER);
            x.fma(w, FloatVector.fromArray(FLOATS, sum, c)).intoArray(sum, c);
        }
        for (; c < channels; c++) {
            sum[c] = Math.fma(CpuBuffer.number(numbers, at + c), CpuBuffer.number(weight, weightAt + c), sum[c]);
        }
    }
}
