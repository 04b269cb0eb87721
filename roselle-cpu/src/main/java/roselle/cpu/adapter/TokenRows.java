package roselle.cpu.adapter;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.util.Objects.requireNonNull;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Rows;
import roselle.backend.memory.Weight;
import roselle.cpu.memory.CpuBuffer;
import roselle.cpu.thread.WorkerPool;

/** What adapters make of embeddings: rows of their own tables, and sums over ranks of what a column of the first matrix says. */
final class TokenRows implements WorkerPool.Work {
    private final WorkerPool pool;
    private final float[][] shrunk; // [threads][ranks]
    private AdapterRows rows = new AdapterRows();
    private @Nullable Weight table;
    private int[] tokenIds = new int[0];
    private float scale;
    private Rows output = LowRankProducts.NONE;

    TokenRows(WorkerPool pool) {
        this.pool = pool;
        shrunk = new float[pool.threads()][0];
    }

    void run(AdapterRows grouped, Weight weight, int[] ids, float factor, Rows to) {
        rows = grouped;
        table = weight;
        tokenIds = ids;
        scale = factor;
        output = to;
        int ranks = ranks();
        if (ranks < 0) {
            return;
        }
        if (shrunk[0].length < ranks) {
            for (int thread = 0; thread < shrunk.length; thread++) {
                shrunk[thread] = new float[ranks];
            }
        }
        pool.run(this);
    }

    /** The most that an adapter of the step has; −1 where none changes the table. */
    private int ranks() {
        int most = -1;
        Weight weight = requireNonNull(table);
        for (int group = 0; group < rows.groups(); group++) {
            Addition addition = rows.adapter(group).toTable(weight);
            boolean isOwn = rows.adapter(group).tableFor(weight) != null;
            most = Math.max(most, addition != null ? addition.ranks : isOwn ? 0 : -1);
        }
        return most;
    }

    @Override
    public void run(int thread, int threads) {
        Weight weight = requireNonNull(table);
        for (int group = 0; group < rows.groups(); group++) {
            OwnRows own = rows.adapter(group).tableFor(weight);
            Addition addition = rows.adapter(group).toTable(weight);
            int first = rows.first(group);
            int count = rows.end(group) - first;
            int end = first + count * (thread + 1) / threads;
            for (int i = first + count * thread / threads; i < end; i++) {
                int row = rows.row(i);
                int token = tokenIds[row] < weight.rows() ? tokenIds[row] : 0;
                if (own != null) {
                    copy(own, token, row);
                }
                if (addition != null) {
                    add(addition, token, row, shrunk[thread]);
                }
            }
        }
    }

    private void copy(OwnRows own, int token, int row) {
        MemorySegment target = CpuBuffer.of(output);
        long to = CpuBuffer.row(output, row);
        long from = own.at(token);
        for (int i = 0; i < own.columns; i++) {
            float number = own.matrix.get(JAVA_FLOAT, from + (long) i * Float.BYTES);
            target.setAtIndex(JAVA_FLOAT, to + i, scale * number);
        }
    }

    private void add(Addition addition, int token, int row, float[] numbers) {
        for (int rank = 0; rank < addition.ranks; rank++) {
            float number = addition.shrink.getAtIndex(JAVA_FLOAT, (long) rank * addition.stride + token);
            numbers[rank] = number * (addition.scale[rank] * scale);
        }
        MemorySegment target = CpuBuffer.of(output);
        for (int tile = 0; tile < addition.tiles; tile++) {
            long to = CpuBuffer.row(output, row) + addition.tileOutput[tile];
            LowRankKernels.expand(numbers, addition.tileFrom[tile], addition, tile, target, to);
        }
    }
}
