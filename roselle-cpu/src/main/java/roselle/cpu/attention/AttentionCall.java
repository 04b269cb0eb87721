package roselle.cpu.attention;

import static java.util.Objects.requireNonNull;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Rows;
import roselle.backend.operation.AttentionLayer;
import roselle.backend.operation.DistanceBias;
import roselle.backend.operation.DistanceScores;
import roselle.cpu.memory.CpuBuffer;
import roselle.cpu.memory.CpuKvCache;
import roselle.cpu.memory.Step;

/** What one attention works on: set as a whole before the threads start, read by all of them. */
public final class AttentionCall {
    /**
     * Positions of a tile. Tiles begin at multiples of it counted from the sequence's first token, whatever the pages and however
     * the row came into the batch: that fixes the order of every sum.
     */
    public static final int TILE = 64;

    private @Nullable Step step;
    private @Nullable Rows query;
    private @Nullable AttentionLayer layer;
    private @Nullable CpuKvCache cache;
    private @Nullable Rows output;

    void begin(Step current, Rows queries, AttentionLayer kind, CpuKvCache pages, Rows to) {
        step = current;
        query = queries;
        layer = kind;
        cache = pages;
        output = to;
    }

    Step step() {
        return requireNonNull(step, "step");
    }

    Rows query() {
        return requireNonNull(query, "query");
    }

    AttentionLayer layer() {
        return requireNonNull(layer, "layer");
    }

    CpuKvCache cache() {
        return requireNonNull(cache, "cache");
    }

    /** The first position that a row sees. */
    int first(int row) {
        return cache().groups().get(layer().group()).firstSeen(step().position(row));
    }

    /** The position behind the last one that a row sees. */
    int end(int row) {
        int own = step().position(row) + 1;
        return layer().bidirectional() ? (int) Math.min(step().end(row), own - 1L + window()) : own;
    }

    /** Positions that a row sees in each direction, itself included. */
    private int window() {
        int window = cache().groups().get(layer().group()).window();
        return window == 0 ? Integer.MAX_VALUE : window;
    }

    /** Whether distances add anything to scores. */
    boolean hasDistances() {
        return layer().traits().met() != null || layer().traits().distances() != null;
    }

    /**
     * Adds what distances, and queries and keys by distance, add to scores that are still to be scaled, of the positions from one until
     * another.
     *
     * @param target where the scores of these positions begin, at {@code at}
     */
    void addDistances(int row, int head, int from, int to, float[] target, int at) {
        DistanceScores met = layer().traits().met();
        if (met != null) {
            meet(met, row, head, from, to, target, at);
        }
        DistanceBias distances = layer().traits().distances();
        if (distances == null) {
            return;
        }
        MemorySegment table = CpuBuffer.of(distances.table());
        int own = step().position(row);
        float scale = layer().scale();
        for (int p = from; p < to; p++) {
            target[at + p - from] += CpuBuffer.number(table, distances.index(head, p, own)) / scale;
        }
    }

    private void meet(DistanceScores met, int row, int head, int from, int to, float[] target, int at) {
        int count = met.ofQueries().columns() / layer().heads().queryHeads();
        int own = step().position(row);
        MemorySegment queries = CpuBuffer.of(met.ofQueries());
        MemorySegment keys = CpuBuffer.of(met.ofKeys());
        MemorySegment kinds = CpuBuffer.of(met.kinds());
        long queryAt = CpuBuffer.row(met.ofQueries(), row) + (long) head * count;
        for (int p = from; p < to; p++) {
            int kind = (int) CpuBuffer.number(kinds, met.index(p, own));
            long keyAt = CpuBuffer.row(met.ofKeys(), row - own + p) + (long) head * count;
            target[at + p - from] += CpuBuffer.number(queries, queryAt + kind) + CpuBuffer.number(keys, keyAt + kind);
        }
    }

    Rows output() {
        return requireNonNull(output, "output");
    }
}
