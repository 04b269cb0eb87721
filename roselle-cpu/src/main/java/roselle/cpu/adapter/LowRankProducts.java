package roselle.cpu.adapter;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Rows;
import roselle.backend.memory.Weight;
import roselle.backend.operation.ExpertLinear;
import roselle.backend.operation.Routing;
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
    private final TokenRows tokens;
    private final OwnLogits ownLogits;
    private final float[][] inputs; // [threads][padded columns]
    private float[] shrunk = new float[0];

    private final AdapterRows rows = new AdapterRows(); // of the step
    private final AdapterRows outputs = new AdapterRows(); // those whose logits are wanted
    private final AddedRows added = new AddedRows(); // of the product in question
    private int[] shrunkAt = new int[0]; // [groups], where the shrunk rows of a group begin
    private Rows from = NONE;
    private Rows to = NONE;
    private float factor;

    static final Rows NONE = new Rows(new CpuBuffer(DataType.F32, 1, MemorySegment.NULL), 0, 1, 1);

    public LowRankProducts(WorkerPool pool) {
        this.pool = pool;
        inputs = new float[pool.threads()][0];
        tokens = new TokenRows(pool);
        ownLogits = new OwnLogits(pool);
    }

    /** Groups the rows of a step. */
    public void begin(StepInputs step) {
        rows.group(step);
        outputs.groupOutputs(step);
    }

    /** {@code output[r] += scale * expand (shrink input[r])} with what each row's adapter has for a weight. */
    public void add(Rows input, Weight weight, float scale, Rows output) {
        clear(rows, 1);
        for (int group = 0; group < rows.groups(); group++) {
            add(rows, group, rows.adapter(group).to(weight));
        }
        run(input, scale, output);
    }

    /** Room for rows of all groups, so many times each. */
    private void clear(AdapterRows grouped, int times) {
        int count = grouped.groups() == 0 ? 0 : grouped.end(grouped.groups() - 1);
        added.clear(Math.max(grouped.groups(), times > 1 ? count * times : 0), count * times);
    }

    private void add(AdapterRows grouped, int group, @Nullable Addition addition) {
        if (addition != null) {
            for (int i = grouped.first(group); i < grouped.end(group); i++) {
                added.add(grouped.row(i), grouped.row(i));
            }
            added.close(addition);
        }
    }

    /** The same with what it has for each choice of a row, a group of its own. */
    public void addToExperts(Rows input, ExpertLinear linear, Routing routing, Rows output) {
        int chosen = routing.chosen();
        clear(rows, Math.max(2, chosen));
        MemorySegment choices = CpuBuffer.of(routing.experts());
        for (int group = 0; group < rows.groups(); group++) {
            @Nullable Addition[] ofExperts = rows.adapter(group).toStack(linear.experts());
            for (int i = rows.first(group); ofExperts != null && i < rows.end(group); i++) {
                int row = rows.row(i);
                for (int c = row * chosen; c < (row + 1) * chosen; c++) {
                    Addition addition = ofExperts[CpuBuffer.integer(choices, c)];
                    if (addition != null) {
                        added.add(linear.spread() ? c : row, c);
                        added.close(addition);
                    }
                }
            }
        }
        run(input, 1f, output);
    }

    /** Replaces embeddings of tokens, and adds to them. */
    public void changeTable(Weight table, int[] tokenIds, float scale, Rows output) {
        tokens.run(rows, table, tokenIds, scale, output);
    }

    /** Replaces logits, and adds to them. */
    public void changeLogits(Rows input, Weight weight, Rows output) {
        ownLogits.run(outputs, input, weight, output);
        clear(outputs, 1);
        for (int group = 0; group < outputs.groups(); group++) {
            add(outputs, group, outputs.adapter(group).toLogits(weight));
        }
        run(input, 1f, output);
    }

    private void run(Rows input, float scale, Rows output) {
        from = input;
        to = output;
        factor = scale;
        long products = prepare();
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
    }

    /** Makes room for the shrunk rows; returns how much there is to do. */
    private long prepare() {
        long products = 0;
        int numbers = 0;
        shrinking.units = 0;
        if (shrunkAt.length < added.groups()) {
            shrunkAt = new int[added.groups()];
        }
        for (int group = 0; group < added.groups(); group++) {
            Addition addition = added.addition(group);
            int count = added.end(group) - added.first(group);
            shrunkAt[group] = numbers;
            numbers += count * addition.ranks;
            shrinking.units += count * units(addition);
            products += (long) count * addition.ranks * (addition.inputs + addition.tiles * Addition.TILE);
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

    /** A row's numbers, filled up with zeros. */
    static void copy(Rows from, int row, float[] x, int columns, int stride) {
        long at = CpuBuffer.row(from, row) * Float.BYTES;
        MemorySegment.copy(CpuBuffer.of(from), JAVA_FLOAT, at, x, 0, columns);
        Arrays.fill(x, columns, stride, 0f);
    }

    /** Some sums of some rows. */
    private final class Shrinking implements WorkerPool.Work {
        private int units;

        @Override
        public void run(int thread, int threads) {
            int first = (int) ((long) units * thread / threads);
            int end = (int) ((long) units * (thread + 1) / threads);
            int passed = 0;
            for (int group = 0; group < added.groups() && passed < end; group++) {
                Addition addition = added.addition(group);
                int all = (added.end(group) - added.first(group)) * units(addition);
                run(thread, group, addition, Math.max(0, first - passed), Math.min(all, end - passed));
                passed += all;
            }
        }

        private void run(int thread, int group, Addition addition, int first, int end) {
            int perRow = units(addition);
            float[] x = inputs[thread];
            int copied = -1;
            for (int unit = first; unit < end; unit++) {
                int row = unit / perRow;
                if (row != copied) {
                    copy(from, added.input(added.first(group) + row), x, addition.inputs, addition.stride);
                    copied = row;
                }
                int rank = unit % perRow * TOGETHER;
                int at = shrunkAt[group] + row * addition.ranks + rank;
                LowRankKernels.shrink(x, addition, rank, factor, shrunk, at);
            }
        }
    }

    /** Some outputs of all rows. */
    private final class Expanding implements WorkerPool.Work {
        @Override
        public void run(int thread, int threads) {
            for (int group = 0; group < added.groups(); group++) {
                Addition addition = added.addition(group);
                int end = addition.tiles * (thread + 1) / threads;
                for (int tile = addition.tiles * thread / threads; tile < end; tile++) {
                    run(group, addition, tile);
                }
            }
        }

        private void run(int group, Addition addition, int tile) {
            MemorySegment target = CpuBuffer.of(to);
            int first = added.first(group);
            for (int i = first; i < added.end(group); i++) {
                long output = CpuBuffer.row(to, added.output(i)) + addition.tileOutput[tile];
                int at = shrunkAt[group] + (i - first) * addition.ranks + addition.tileFrom[tile];
                LowRankKernels.expand(shrunk, at, addition, tile, target, output);
            }
        }
    }
}
