package roselle.cpu.adapter;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Rows;
import roselle.backend.memory.Weight;
import roselle.backend.step.StepInputs;
import roselle.cpu.memory.CpuBuffer;
import roselle.cpu.thread.WorkerPool;
import roselle.cpu.vector.Lanes;
import roselle.tensor.DataType;

/**
 * Adds to each row what its adapter makes of its input: the rows of a step are grouped by adapter once, shrunk all together, and then
 * expanded all together, so that two meetings of the threads do for any number of adapters (Chen et al., 2023: SGMV).
 *
 * <p>The threads share rows and ranks when they shrink, and tiles of outputs when they expand. Each number is a sum of its own, in an
 * order that the matrices fix: that of {@link Lanes} over the inputs, then over the ranks.
 */
public final class LowRankProducts {
    /** Products of two numbers that are not worth a meeting. */
    private static final long FEW_PRODUCTS = 1 << 15;

    /** Sums of a row that are taken at a time. */
    static final int TOGETHER = 4;

    private final WorkerPool pool;
    private final Shrinking shrinking = new Shrinking();
    private final Expanding expanding = new Expanding();
    private final float[][] inputs; // [threads][padded columns]
    private float[] shrunk = new float[0];

    private CpuAdapter[] adapters = new CpuAdapter[0]; // of the step, each once
    private int[] order = new int[0]; // rows of the step that have an adapter, those of one after the other
    private int[] groupEnd = new int[0]; // [adapters], in order
    private int groups;

    private @Nullable Addition[] additions = new Addition[0]; // [adapters], to the weight in question
    private int[] shrunkAt = new int[0]; // [adapters], where the shrunk rows of a group begin
    private Rows from = NONE;
    private Rows to = NONE;
    private float factor;

    private static final Rows NONE = new Rows(new CpuBuffer(DataType.F32, 1, MemorySegment.NULL), 0, 1, 1);

    public LowRankProducts(WorkerPool pool) {
        this.pool = pool;
        inputs = new float[pool.threads()][0];
    }

    /** Groups the rows of a step. */
    public void begin(StepInputs step) {
        if (adapters.length < step.adapter.length || order.length < step.rows) {
            reserve(step);
        }
        groups = 0;
        for (int s = 0; s < step.sequences; s++) {
            if (step.adapter[s] instanceof CpuAdapter adapter && group(adapter) < 0) {
                adapters[groups++] = adapter;
            }
        }
        int end = 0;
        for (int group = 0; group < groups; group++) {
            for (int s = 0; s < step.sequences; s++) {
                if (adapters[group].equals(step.adapter[s])) {
                    for (int r = step.rowStart[s]; r < step.rowStart[s + 1]; r++) {
                        order[end++] = r;
                    }
                }
            }
            groupEnd[group] = end;
        }
    }

    private void reserve(StepInputs step) {
        int sequences = step.adapter.length;
        adapters = new CpuAdapter[sequences];
        groupEnd = new int[sequences];
        additions = new Addition[sequences];
        shrunkAt = new int[sequences];
        order = new int[step.tokenIds.length];
    }

    private int group(CpuAdapter adapter) {
        for (int group = 0; group < groups; group++) {
            if (adapters[group].equals(adapter)) {
                return group;
            }
        }
        return -1;
    }

    private int firstRow(int group) {
        return group == 0 ? 0 : groupEnd[group - 1];
    }

    /** {@code output[r] += scale * expand (shrink input[r])} with what each row's adapter has for a weight. */
    public void add(Rows input, Weight weight, float scale, Rows output) {
        from = input;
        to = output;
        factor = scale;
        long products = prepare(weight);
        if (products == 0) {
            return;
        }
        reserveInputs(input.columns());
        if (products <= FEW_PRODUCTS) {
            shrinking.run(0, 1);
            expanding.run(0, 1);
        } else {
            pool.run(shrinking);
            pool.run(expanding);
        }
        Arrays.fill(additions, 0, groups, null);
    }

    /** Looks up what is added to a weight and makes room for the shrunk rows; returns how much there is to do. */
    private long prepare(Weight weight) {
        long products = 0;
        int numbers = 0;
        shrinking.units = 0;
        for (int group = 0; group < groups; group++) {
            Addition addition = adapters[group].to(weight);
            additions[group] = addition;
            shrunkAt[group] = numbers;
            if (addition != null) {
                int rows = groupEnd[group] - firstRow(group);
                numbers += rows * addition.ranks;
                shrinking.units += rows * units(addition);
                products += (long) rows * addition.ranks * (addition.inputs + addition.tiles * Addition.TILE);
            }
        }
        if (shrunk.length < numbers) {
            shrunk = new float[numbers];
        }
        return products;
    }

    private void reserveInputs(int columns) {
        int padded = Lanes.padded(columns);
        if (inputs[0].length < padded) {
            for (int thread = 0; thread < inputs.length; thread++) {
                inputs[thread] = new float[padded];
            }
        }
    }

    /** Pieces of work that a row is. */
    private static int units(Addition addition) {
        return (addition.ranks + TOGETHER - 1) / TOGETHER;
    }

    /** Some sums of some rows. */
    private final class Shrinking implements WorkerPool.Work {
        private int units;

        @Override
        public void run(int thread, int threads) {
            int first = (int) ((long) units * thread / threads);
            int end = (int) ((long) units * (thread + 1) / threads);
            int passed = 0;
            for (int group = 0; group < groups && passed < end; group++) {
                Addition addition = additions[group];
                if (addition != null) {
                    int perRow = units(addition);
                    int all = (groupEnd[group] - firstRow(group)) * perRow;
                    run(thread, group, addition, Math.max(0, first - passed), Math.min(all, end - passed));
                    passed += all;
                }
            }
        }

        private void run(int thread, int group, Addition addition, int first, int end) {
            int perRow = units(addition);
            float[] x = inputs[thread];
            int copied = -1;
            for (int unit = first; unit < end; unit++) {
                int row = unit / perRow;
                if (row != copied) {
                    copy(order[firstRow(group) + row], x, addition);
                    copied = row;
                }
                int rank = unit % perRow * TOGETHER;
                int at = shrunkAt[group] + row * addition.ranks + rank;
                LowRankKernels.shrink(x, addition, rank, factor, shrunk, at);
            }
        }

        private void copy(int row, float[] x, Addition addition) {
            long at = CpuBuffer.row(from, row) * Float.BYTES;
            MemorySegment.copy(CpuBuffer.of(from), JAVA_FLOAT, at, x, 0, addition.inputs);
            Arrays.fill(x, addition.inputs, addition.stride, 0f);
        }
    }

    /** Some outputs of all rows. */
    private final class Expanding implements WorkerPool.Work {
        @Override
        public void run(int thread, int threads) {
            for (int group = 0; group < groups; group++) {
                Addition addition = additions[group];
                if (addition != null) {
                    int end = addition.tiles * (thread + 1) / threads;
                    for (int tile = addition.tiles * thread / threads; tile < end; tile++) {
                        run(group, addition, tile);
                    }
                }
            }
        }

        private void run(int group, Addition addition, int tile) {
            MemorySegment outputs = CpuBuffer.of(to);
            int first = firstRow(group);
            for (int row = first; row < groupEnd[group]; row++) {
                long output = CpuBuffer.row(to, order[row]) + addition.tileOutput[tile];
                int at = shrunkAt[group] + (row - first) * addition.ranks + addition.tileFrom[tile];
                LowRankKernels.expand(shrunk, at, addition, tile, outputs, output);
            }
        }
    }
}
