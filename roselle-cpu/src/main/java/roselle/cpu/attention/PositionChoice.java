package roselle.cpu.attention;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.util.Objects.requireNonNull;
import static roselle.cpu.vector.Lanes.COUNT;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.KvGroup;
import roselle.backend.memory.Rows;
import roselle.backend.operation.AttentionLayer;
import roselle.backend.operation.ChosenPositions;
import roselle.backend.operation.PositionIndex;
import roselle.cpu.format.Unpacked;
import roselle.cpu.memory.CpuBuffer;
import roselle.cpu.memory.CpuKvCache;
import roselle.cpu.memory.Step;
import roselle.cpu.thread.WorkerPool;
import roselle.cpu.vector.Lanes;

/**
 * The choice of positions, a row at a time: all threads score tiles of its positions, then one keeps the highest.
 *
 * <p>A position's score is a sum over the heads in their order, each head's product as attention has it, so it depends on the row and
 * the position alone.
 */
public final class PositionChoice implements WorkerPool.Work {
    private static final int TILE = AttentionCall.TILE;
    private static final int ALL_HEADS = -1;

    private final WorkerPool pool;
    private final Unit[] units;
    private final HighestScores highest = new HighestScores();
    private float[] queries = new float[0]; // [heads, stride]
    private float[] weights = new float[0]; // [heads]
    private float[] scores = new float[0]; // [positions]

    private @Nullable Step step;
    private @Nullable AttentionLayer keys;
    private @Nullable CpuKvCache cache;
    private int row;
    private int count; // positions that the row sees, or whole keys of several tokens
    private int head; // whose products are the scores; or ALL_HEADS for their weighted sum

    public PositionChoice(WorkerPool pool) {
        this.pool = pool;
        units = new Unit[pool.threads()];
        Arrays.setAll(units, _ -> new Unit());
    }

    /** Chooses the positions of a step's rows. */
    public void choose(Step current, Rows query, Rows headWeights, PositionIndex index, CpuKvCache pages) {
        step = current;
        keys = index.keys();
        cache = pages;
        reserve(index.keys());
        MemorySegment target = CpuBuffer.of(index.chosen().positions());
        ChosenPositions chosen = index.chosen();
        for (row = 0; row < current.rows(); row++) {
            int position = current.position(row);
            int whole = chosen.choosesWhole() ? chosen.block() : 1;
            count = (position + 1) / (chosen.tokens() * whole);
            if (count <= chosen.most() / whole) {
                for (int choice = 0; choice < chosen.choices(); choice++) {
                    all(target, chosen.at(row, choice), chosen.count(position));
                }
                continue;
            }
            if (scores.length < count) {
                scores = new float[Integer.highestOneBit(count) * 2];
            }
            take(query, headWeights, index);
            for (int choice = 0; choice < chosen.choices(); choice++) {
                head = index.localBlocks() == 0 ? ALL_HEADS : choice;
                pool.run(this);
                if (chosen.choosesWhole()) {
                    writeWhole(position, chosen, target);
                } else if (head == ALL_HEADS) {
                    highest.write(scores, count, chosen.most(), target, chosen.at(row, choice));
                } else {
                    writeBlocks(position, index, target, chosen.at(row, choice));
                }
            }
        }
    }

    /** The positions of the local blocks, and of those with the highest scores. */
    private void writeBlocks(int position, PositionIndex index, MemorySegment target, long at) {
        int block = index.chosen().block();
        int last = position / block;
        for (int b = 0; b <= last; b++) { // blocks take the places of scores that were read
            float best = Float.NEGATIVE_INFINITY;
            for (int p = b * block; p < Math.min(position + 1, (b + 1) * block); p++) {
                best = Math.max(best, scores[p]);
            }
            scores[b] = b > last - index.localBlocks() ? Float.POSITIVE_INFINITY : best;
        }
        int count = index.chosen().most() / block;
        highest.find(scores, last + 1, count);
        long to = at;
        for (int i = 0; i < count; i++) {
            int first = highest.found(i) * block;
            for (int p = first; p < Math.min(position + 1, first + block); p++) {
                target.setAtIndex(JAVA_INT, to++, p);
            }
        }
    }

    /** The positions of the whole blocks with the highest scores, and those behind the last whole one. */
    private void writeWhole(int position, ChosenPositions chosen, MemorySegment target) {
        int blocks = chosen.most() / chosen.block();
        highest.find(scores, count, blocks);
        long to = chosen.at(row, 0);
        for (int i = 0; i < blocks; i++) {
            int first = highest.found(i) * chosen.block();
            for (int p = first; p < first + chosen.block(); p++) {
                target.setAtIndex(JAVA_INT, to++, p);
            }
        }
        for (int p = count * chosen.block(); p <= position; p++) {
            target.setAtIndex(JAVA_INT, to++, p);
        }
    }

    private static void all(MemorySegment chosen, long at, int count) {
        for (int p = 0; p < count; p++) {
            chosen.setAtIndex(JAVA_INT, at + p, p);
        }
    }

    private void reserve(AttentionLayer kind) {
        int heads = kind.heads().queryHeads();
        int stride = Lanes.padded(kind.heads().keySize());
        if (queries.length < heads * stride || weights.length < heads) {
            queries = new float[heads * stride];
            weights = new float[heads];
        }
        for (Unit unit : units) {
            unit.reserve(stride);
        }
    }

    /** The row's queries and weights. */
    private void take(Rows query, Rows headWeights, PositionIndex index) {
        AttentionLayer kind = index.keys();
        int heads = kind.heads().queryHeads();
        int size = kind.heads().keySize();
        int stride = Lanes.padded(size);
        long from = CpuBuffer.row(query, row);
        for (int h = 0; h < heads; h++) {
            long at = (from + (long) h * size) * Float.BYTES;
            MemorySegment.copy(CpuBuffer.of(query), JAVA_FLOAT, at, queries, h * stride, size);
            Arrays.fill(queries, h * stride + size, (h + 1) * stride, 0f);
        }
        if (index.localBlocks() > 0) {
            return;
        }
        long at = CpuBuffer.row(headWeights, row) * Float.BYTES;
        MemorySegment.copy(CpuBuffer.of(headWeights), JAVA_FLOAT, at, weights, 0, heads);
    }

    @Override
    public void run(int thread, int threads) {
        Step now = requireNonNull(step, "step");
        int end = count;
        for (int tile = thread * TILE; tile < end; tile += threads * TILE) {
            units[thread].score(now, tile, Math.min(tile + TILE, end));
        }
    }

    /** A thread's buffers and its tile. */
    private final class Unit {
        private final Unpacked scratch = new Unpacked();
        private final float[] lanes = new float[TILE * COUNT];
        private final float[] products = new float[TILE];
        private float[] tileKeys = new float[0]; // [TILE, stride]

        void reserve(int stride) {
            if (tileKeys.length < TILE * stride) {
                tileKeys = new float[TILE * stride];
            }
        }

        void score(Step now, int from, int to) {
            AttentionLayer kind = requireNonNull(keys, "keys");
            int stride = Lanes.padded(kind.heads().keySize());
            load(now, kind, from, to, stride);
            if (head != ALL_HEADS) {
                PagedAttention.dots(queries, head * stride, tileKeys, 0, stride, to - from, lanes);
                Lanes.sums(lanes, 0, to - from, scores, from);
                return;
            }
            Arrays.fill(scores, from, to, 0f);
            for (int h = 0; h < kind.heads().queryHeads(); h++) {
                PagedAttention.dots(queries, h * stride, tileKeys, 0, stride, to - from, lanes);
                Lanes.sums(lanes, 0, to - from, products, 0);
                for (int j = 0; j < to - from; j++) {
                    scores[from + j] += weights[h] * Math.max(0f, products[j] * kind.scale());
                }
            }
        }

        private void load(Step now, AttentionLayer kind, int from, int to, int stride) {
            CpuKvCache pages = requireNonNull(cache, "cache");
            int group = kind.group();
            KvGroup keysOf = pages.groups().get(group);
            int p = from;
            while (p < to) {
                int last = (p + 1) * keysOf.tokens() - 1;
                int page = now.page(group, now.sequence(row), last);
                int begin = last - last % pages.pageTokens();
                int token = p - keysOf.keysBefore(begin);
                int loaded = Math.min(keysOf.keysBefore(begin + pages.pageTokens()) - p, to - p);
                long at = pages.keyAt(group, kind.layer(), page, 0, token);
                long scalesAt = pages.keyScalesAt(group, kind.layer(), page, 0, token);
                int size = kind.heads().keySize();
                pages.format(group)
                        .load(
                                pages.segment(group),
                                at,
                                scalesAt,
                                size,
                                loaded,
                                tileKeys,
                                (p - from) * stride,
                                stride,
                                scratch);
                p += loaded;
            }
        }
    }
}
