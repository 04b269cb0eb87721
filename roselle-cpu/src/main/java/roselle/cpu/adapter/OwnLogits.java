package roselle.cpu.adapter;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.util.Objects.requireNonNull;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Rows;
import roselle.backend.memory.Weight;
import roselle.cpu.memory.CpuBuffer;
import roselle.cpu.thread.WorkerPool;

/** Logits of rows whose adapters have a matrix of their own; the threads share its rows. Each sum is in the order of lanes. */
final class OwnLogits implements WorkerPool.Work {
    /** Logits that are taken of one row before those of the next. */
    private static final int CHUNK = 64;

    private final WorkerPool pool;
    private final float[][] x; // [threads][padded columns]
    private final float[][] chunks; // [threads][CHUNK]
    private AdapterRows outputs = new AdapterRows();
    private @Nullable Weight weight;
    private Rows from = LowRankProducts.NONE;
    private Rows to = LowRankProducts.NONE;

    OwnLogits(WorkerPool pool) {
        this.pool = pool;
        x = new float[pool.threads()][0];
        chunks = new float[pool.threads()][CHUNK];
    }

    void run(AdapterRows grouped, Rows input, Weight matrix, Rows output) {
        outputs = grouped;
        weight = matrix;
        from = input;
        to = output;
        int stride = 0;
        for (int group = 0; group < outputs.groups(); group++) {
            OwnRows own = outputs.adapter(group).logitsFor(matrix);
            stride = own == null ? stride : own.stride;
        }
        if (stride == 0) {
            return;
        }
        if (x[0].length < stride) {
            for (int thread = 0; thread < x.length; thread++) {
                x[thread] = new float[stride];
            }
        }
        pool.run(this);
    }

    @Override
    public void run(int thread, int threads) {
        for (int group = 0; group < outputs.groups(); group++) {
            OwnRows own = outputs.adapter(group).logitsFor(requireNonNull(weight));
            if (own != null) {
                int all = (own.rows + CHUNK - 1) / CHUNK;
                int end = (int) ((long) all * (thread + 1) / threads);
                for (int chunk = (int) ((long) all * thread / threads); chunk < end; chunk++) {
                    run(own, group, chunk * CHUNK, x[thread], chunks[thread]);
                }
            }
        }
    }

    private void run(OwnRows own, int group, int first, float[] row, float[] sums) {
        int count = Math.min(CHUNK, own.rows - first);
        MemorySegment target = CpuBuffer.of(to);
        for (int i = outputs.first(group); i < outputs.end(group); i++) {
            int output = outputs.row(i);
            LowRankProducts.copy(from, output, row, own.columns, own.stride);
            for (int at = 0; at < count; at += LowRankProducts.TOGETHER) {
                int some = Math.min(LowRankProducts.TOGETHER, count - at);
                LowRankKernels.dots(row, own.matrix, own.stride, first + at, some, sums, at);
            }
            for (int at = 0; at < count && own.bias.length > 0; at++) {
                sums[at] += own.bias[first + at];
            }
            long begin = (CpuBuffer.row(to, output) + first) * Float.BYTES;
            MemorySegment.copy(sums, 0, target, JAVA_FLOAT, begin, count);
        }
    }
}
