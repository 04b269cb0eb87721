package roselle.cpu.attention;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static roselle.cpu.vector.Lanes.COUNT;
import static roselle.cpu.vector.Lanes.FLOATS;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import jdk.incubator.vector.FloatVector;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Buffer;
import roselle.backend.memory.KvGroup;
import roselle.backend.memory.Rows;
import roselle.backend.operation.AttentionLayer;
import roselle.backend.operation.ChosenPositions;
import roselle.backend.operation.HeadShape;
import roselle.backend.step.StepInputs;
import roselle.cpu.format.Unpacked;
import roselle.cpu.memory.CpuBuffer;
import roselle.cpu.memory.CpuKvCache;
import roselle.cpu.memory.MachineCode;
import roselle.cpu.memory.Step;
import roselle.cpu.thread.WorkerPool;
import roselle.cpu.vector.Lanes;
import roselle.cpu.vector.VectorFunctions;

/**
 * Attention on all threads; {@link Attention} is its scalar twin.
 *
 * <p>A unit of work is a block of a sequence's rows with query heads that share a key head: a tile of keys and values is
 * converted once for all of them. Each row and head keeps its own running maximum and sums and sees the tiles in the order
 * of positions, so blocks, threads and chunks of a prompt change no bit.
 */
public final class PagedAttention implements WorkerPool.Work {
    private static final int TILE = AttentionCall.TILE;
    /** Rows of a block at least, where there are as many. */
    private static final int BLOCK_ROWS = 32;

    private static final int BLOCK_HEADS = 16;

    /**
     * Entries, which are rows times heads, of a block that is longer because few heads share a key head: their scores of a tile
     * fill a first cache, and the tile is converted for all of them once.
     */
    private static final int LONG_BLOCK = 128;

    /** Rows of a block at most. */
    static final int MOST_ROWS = Math.max(BLOCK_ROWS, LONG_BLOCK);

    /** Entries of a block at most. */
    static final int ENTRIES = BLOCK_ROWS * BLOCK_HEADS;

    private final WorkerPool pool;
    private final Unit[] units;
    private final MachineCode code;
    private final MachineAttention[] machines;
    private final AttentionCall call = new AttentionCall();

    public PagedAttention(WorkerPool pool, MachineCode code, Arena arena) {
        this.pool = pool;
        this.code = code;
        units = new Unit[pool.threads()];
        machines = new MachineAttention[pool.threads()];
        for (int i = 0; i < units.length; i++) {
            units[i] = new Unit();
            machines[i] = new MachineAttention(code, arena);
        }
    }

    /** Whether machine code attends in a group. */
    boolean isMachine(KvGroup group) {
        return code.isThere() && MachineAttention.takes(group);
    }

    /** Bytes of native memory that the heads of these groups take. */
    public long bytes(List<KvGroup> groups) {
        int keySize = 0;
        int valueSize = 0;
        for (KvGroup group : groups) {
            if (isMachine(group)) {
                keySize = Math.max(keySize, group.keySize());
                valueSize = Math.max(valueSize, group.valueSize());
            }
        }
        return keySize == 0 ? 0 : machines.length * MachineAttention.bytes(keySize, valueSize);
    }

    /** Bytes of native memory that were taken. */
    public long bytes() {
        long bytes = 0;
        for (MachineAttention machine : machines) {
            bytes += machine.bytes();
        }
        return bytes;
    }

    /** Makes room for the heads of a group. */
    public void reserve(KvGroup group) {
        if (isMachine(group)) {
            for (MachineAttention machine : machines) {
                machine.reserve(group.keySize(), group.valueSize());
            }
            return;
        }
        for (Unit unit : units) {
            unit.reserve(group.keySize(), group.valueSize() == 0 ? group.keySize() : group.valueSize());
        }
    }

    public void attend(Step current, Rows query, AttentionLayer layer, CpuKvCache cache, Rows output) {
        call.begin(current, query, layer, cache, output);
        pool.run(this);
    }

    @Override
    public void run(int thread, int threads) {
        StepInputs inputs = call.step().inputs();
        int queryHeads = call.layer().heads().queryHeads();
        int shared = queryHeads / call.layer().heads().keyHeads();
        boolean chooses = chooses(call.layer());
        int blockRows = chooses ? 1 : Math.max(BLOCK_ROWS, LONG_BLOCK / shared);
        int number = 0;
        for (int s = 0; s < inputs.sequences; s++) {
            for (int row = inputs.rowStart[s]; row < inputs.rowStart[s + 1]; row += blockRows) {
                int endRow = Math.min(row + blockRows, inputs.rowStart[s + 1]);
                int head = 0;
                while (head < queryHeads) {
                    int endHead = Math.min(head + BLOCK_HEADS, (head / shared + 1) * shared);
                    if (number++ % threads == thread) {
                        unit(thread, s, row, endRow, head, endHead);
                    }
                    head = endHead;
                }
            }
        }
    }

    private static boolean chooses(AttentionLayer layer) {
        AttentionLayer compressed = layer.traits().compressed();
        return layer.traits().chosen() != null
                || (compressed != null && compressed.traits().chosen() != null);
    }

    private void unit(int thread, int sequence, int row, int endRow, int head, int endHead) {
        HeadShape heads = call.layer().heads();
        boolean isOdd = call.layer().traits().slopes() != null
                || call.layer().traits().chosen() != null
                || call.layer().traits().compressed() != null;
        if (!isOdd && isMachine(call.cache().groups().get(call.layer().group()))) {
            machines[thread].run(call, sequence, row, endRow, head, endHead);
        } else {
            units[thread].reserve(heads.keySize(), heads.valueSize()); // there already, but where scores lean
            units[thread].run(call, sequence, row, endRow, head, endHead);
        }
    }

    /** A thread's buffers and its unit of work. */
    private static final class Unit {
        private final float[] scores = new float[TILE];
        private final float[] lanes = new float[TILE * COUNT];
        private final Unpacked scratch = new Unpacked();
        private final float[] largest = new float[ENTRIES];
        private final float[] denominators = new float[ENTRIES];
        private float[] queries = new float[0]; // [rows * heads, keyStride]
        private float[] sums = new float[0]; // [rows * heads, valueStride]
        private float[] keys = new float[0]; // [TILE, keyStride]
        private float[] values = new float[0]; // [TILE, valueStride]

        void reserve(int keySize, int valueSize) {
            int keyStride = Lanes.padded(keySize);
            int valueStride = Lanes.padded(valueSize);
            queries = atLeast(queries, ENTRIES * keyStride);
            sums = atLeast(sums, ENTRIES * valueStride);
            keys = atLeast(keys, TILE * keyStride);
            values = atLeast(values, TILE * valueStride);
        }

        private static float[] atLeast(float[] array, int size) {
            return array.length < size ? new float[size] : array;
        }

        void run(AttentionCall call, int sequence, int row, int endRow, int head, int endHead) {
            AttentionLayer kind = call.layer();
            begin(call.query(), kind, row, endRow, head, endHead);
            ChosenPositions chosen = kind.traits().chosen();
            if (chosen == null) {
                tiles(call, sequence, row, endRow, head, endHead);
            } else {
                tiles(call, kind, chosen, sequence, row, head, endHead);
            }
            AttentionLayer further = kind.traits().compressed();
            if (further != null && further.traits().chosen() != null) {
                tiles(call, further, further.traits().chosen(), sequence, row, head, endHead);
            } else if (further != null) {
                compressedTiles(call, further, sequence, row, endRow, head, endHead);
            }
            end(call.output(), kind.heads(), row, endRow, head, endHead);
        }

        private void begin(Rows from, AttentionLayer kind, int row, int endRow, int head, int endHead) {
            int size = kind.heads().keySize();
            int stride = Lanes.padded(size);
            Buffer sinks = kind.sinks();
            int i = 0;
            for (int r = row; r < endRow; r++) {
                for (int h = head; h < endHead; h++) {
                    long at = CpuBuffer.row(from, r) + (long) h * size;
                    MemorySegment.copy(CpuBuffer.of(from), JAVA_FLOAT, at * Float.BYTES, queries, i * stride, size);
                    Arrays.fill(queries, i * stride + size, (i + 1) * stride, 0f);
                    largest[i] = sinks == null ? Float.NEGATIVE_INFINITY : CpuBuffer.number(CpuBuffer.of(sinks), h);
                    denominators[i] = sinks == null ? 0f : 1f;
                    i++;
                }
            }
            Arrays.fill(sums, 0, i * Lanes.padded(kind.heads().valueSize()), 0f);
        }

        private void tiles(AttentionCall call, int sequence, int row, int endRow, int head, int endHead) {
            Step now = call.step();
            AttentionLayer kind = call.layer();
            CpuKvCache pages = call.cache();
            int lowest = call.first(row);
            int end = call.end(endRow - 1);
            int keyHead = head * kind.heads().keyHeads() / kind.heads().queryHeads();
            for (int tile = lowest / TILE * TILE; tile < end; tile += TILE) {
                load(now, kind, pages, sequence, keyHead, tile, Math.max(tile, lowest), Math.min(tile + TILE, end));
                int i = 0;
                for (int r = row; r < endRow; r++) {
                    int from = Math.max(tile, call.first(r)) - tile;
                    int to = Math.min(tile + TILE, call.end(r)) - tile;
                    for (int h = head; h < endHead; h++) {
                        if (from < to) {
                            score(call, tile, i, r, h, from, to);
                            lean(kind.traits().slopes(), h, now.position(r) - tile - from, to - from);
                            one(kind, i, from, to);
                        }
                        i++;
                    }
                }
            }
        }

        /** Tiles of a row's chosen positions, in their order. */
        private void tiles(
                AttentionCall call,
                AttentionLayer kind,
                ChosenPositions chosen,
                int sequence,
                int row,
                int head,
                int endHead) {
            Step now = call.step();
            int count = chosen.count(now.position(row));
            MemorySegment positions = CpuBuffer.of(chosen.positions());
            int keyHead = head * kind.heads().keyHeads() / kind.heads().queryHeads();
            long at = chosen.at(row, chosen.choices() == 1 ? 0 : keyHead);
            for (int tile = 0; tile < count; tile += TILE) {
                int size = Math.min(TILE, count - tile);
                for (int j = 0; j < size; j++) {
                    int position = CpuBuffer.integer(positions, at + tile + j);
                    load(now, kind, call.cache(), sequence, keyHead, position - j, position, position + 1);
                }
                for (int h = head; h < endHead; h++) {
                    score(call, tile, h - head, row, h, 0, size);
                    one(kind, h - head, 0, size);
                }
            }
        }

        /** Tiles of all keys that are made of several tokens and end before a row, or with it. */
        private void compressedTiles(
                AttentionCall call, AttentionLayer kind, int sequence, int row, int endRow, int head, int endHead) {
            Step now = call.step();
            KvGroup group = call.cache().groups().get(kind.group());
            int end = group.keysBefore(now.position(endRow - 1) + 1);
            for (int tile = 0; tile < end; tile += TILE) {
                load(now, kind, call.cache(), sequence, 0, tile, tile, Math.min(tile + TILE, end));
                int i = 0;
                for (int r = row; r < endRow; r++) {
                    int to = Math.min(tile + TILE, group.keysBefore(now.position(r) + 1)) - tile;
                    for (int h = head; h < endHead; h++) {
                        if (to > 0) {
                            score(call, tile, i, r, h, 0, to);
                            one(call.layer(), i, 0, to);
                        }
                        i++;
                    }
                }
            }
        }

        /** Converts keys and values of the positions, or the keys of several tokens, {@code from} until {@code to}. */
        private void load(
                Step now, AttentionLayer kind, CpuKvCache pages, int sequence, int head, int tile, int from, int to) {
            int group = kind.group();
            HeadShape heads = kind.heads();
            KvGroup keysOf = pages.groups().get(group);
            boolean hasValues = keysOf.valueSize() != 0;
            int p = from;
            while (p < to) {
                int last = (p + 1) * keysOf.tokens() - 1;
                int page = now.page(group, sequence, last);
                int begin = last - last % pages.pageTokens();
                int token = p - keysOf.keysBefore(begin);
                int count = Math.min(keysOf.keysBefore(begin + pages.pageTokens()) - p, to - p);
                long keyAt = pages.keyAt(group, kind.layer(), page, head, token);
                long keyScales = pages.keyScalesAt(group, kind.layer(), page, head, token);
                convert(pages, group, keyAt, keyScales, heads.keySize(), count, keys, p - tile);
                if (hasValues) {
                    long valueAt = pages.valueAt(group, kind.layer(), page, head, token);
                    long valueScales = pages.valueScalesAt(group, kind.layer(), page, head, token);
                    convert(pages, group, valueAt, valueScales, heads.valueSize(), count, values, p - tile);
                }
                p += count;
            }
            if (!hasValues) {
                prefixes(heads, from - tile, to - tile);
            }
        }

        private void convert(
                CpuKvCache pages,
                int group,
                long at,
                long scalesAt,
                int size,
                int count,
                float[] target,
                int position) {
            int stride = Lanes.padded(size);
            pages.format(group)
                    .load(pages.segment(group), at, scalesAt, size, count, target, position * stride, stride, scratch);
        }

        /** Latent attention: a value is the beginning of its key. */
        private void prefixes(HeadShape heads, int from, int to) {
            int keyStride = Lanes.padded(heads.keySize());
            int valueStride = Lanes.padded(heads.valueSize());
            for (int j = from; j < to; j++) {
                System.arraycopy(keys, j * keyStride, values, j * valueStride, heads.valueSize());
                Arrays.fill(values, j * valueStride + heads.valueSize(), (j + 1) * valueStride, 0f);
            }
        }

        /** What one row and head makes of the keys {@code from} until {@code to} of the tile. */
        private void score(AttentionCall call, int tile, int i, int row, int head, int from, int to) {
            AttentionLayer kind = call.layer();
            int count = to - from;
            int keyStride = Lanes.padded(kind.heads().keySize());
            dots(queries, i * keyStride, keys, from * keyStride, keyStride, count, lanes);
            Lanes.sums(lanes, 0, count, scores, 0);
            call.addDistances(row, head, tile + from, tile + to, scores, 0);
            VectorFunctions.cap(scores, count, kind.scale(), kind.softCap());
        }

        /** Adds what falls with the distance of a key, the first of which lies {@code distance} positions before. */
        private void lean(@Nullable Buffer slopes, int head, int distance, int count) {
            if (slopes == null) {
                return;
            }
            float slope = CpuBuffer.number(CpuBuffer.of(slopes), head);
            for (int j = 0; j < count; j++) {
                scores[j] += slope * (distance - j);
            }
        }

        /** The softmax and the sum of one row and head over the positions {@code from} until {@code to} of the tile. */
        private void one(AttentionLayer kind, int i, int from, int to) {
            int count = to - from;
            float next = largest[i];
            for (int j = 0; j < count; j++) {
                next = Math.max(next, scores[j]);
            }
            float shrink = VectorFunctions.exp(largest[i] - next);
            denominators[i] = denominators[i] * shrink + VectorFunctions.softmaxWeights(scores, count, next, lanes);
            largest[i] = next;
            int valueStride = Lanes.padded(kind.heads().valueSize());
            addValues(scores, count, shrink, values, from * valueStride, valueStride, sums, i * valueStride);
        }

        private void end(Rows to, HeadShape heads, int row, int endRow, int head, int endHead) {
            int size = heads.valueSize();
            int stride = Lanes.padded(size);
            int i = 0;
            for (int r = row; r < endRow; r++) {
                for (int h = head; h < endHead; h++) {
                    for (int d = 0; d < size; d++) {
                        sums[i * stride + d] /= denominators[i];
                    }
                    long at = CpuBuffer.row(to, r) + (long) h * size;
                    MemorySegment.copy(sums, i * stride, CpuBuffer.of(to), JAVA_FLOAT, at * Float.BYTES, size);
                    i++;
                }
            }
        }
    }

    static void dots(float[] query, int at, float[] keys, int from, int stride, int count, float[] lanes) {
        int j = 0;
        for (; j + 4 <= count; j += 4) {
            int k0 = from + j * stride;
            int k1 = k0 + stride;
            int k2 = k1 + stride;
            int k3 = k2 + stride;
            FloatVector s0 = FloatVector.zero(FLOATS);
            FloatVector s1 = s0;
            FloatVector s2 = s0;
            FloatVector s3 = s0;
            for (int i = 0; i < stride; i += COUNT) {
                FloatVector q = FloatVector.fromArray(FLOATS, query, at + i);
                s0 = q.fma(FloatVector.fromArray(FLOATS, keys, k0 + i), s0);
                s1 = q.fma(FloatVector.fromArray(FLOATS, keys, k1 + i), s1);
                s2 = q.fma(FloatVector.fromArray(FLOATS, keys, k2 + i), s2);
                s3 = q.fma(FloatVector.fromArray(FLOATS, keys, k3 + i), s3);
            }
            s0.intoArray(lanes, j * COUNT);
            s1.intoArray(lanes, j * COUNT + COUNT);
            s2.intoArray(lanes, j * COUNT + 2 * COUNT);
            s3.intoArray(lanes, j * COUNT + 3 * COUNT);
        }
        for (; j < count; j++) {
            FloatVector s = FloatVector.zero(FLOATS);
            for (int i = 0; i < stride; i += COUNT) {
                FloatVector q = FloatVector.fromArray(FLOATS, query, at + i);
                s = q.fma(FloatVector.fromArray(FLOATS, keys, from + j * stride + i), s);
            }
            s.intoArray(lanes, j * COUNT);
        }
    }

    private static void addValues(
            float[] weights, int count, float shrink, float[] values, int from, int stride, float[] sums, int at) {
        int d = 0;
        for (; d + 4 * COUNT <= stride; d += 4 * COUNT) {
            FloatVector s0 = FloatVector.fromArray(FLOATS, sums, at + d).mul(shrink);
            FloatVector s1 = FloatVector.fromArray(FLOATS, sums, at + d + COUNT).mul(shrink);
            FloatVector s2 =
                    FloatVector.fromArray(FLOATS, sums, at + d + 2 * COUNT).mul(shrink);
            FloatVector s3 =
                    FloatVector.fromArray(FLOATS, sums, at + d + 3 * COUNT).mul(shrink);
            int v = from + d;
            for (int j = 0; j < count; j++) {
                FloatVector w = FloatVector.broadcast(FLOATS, weights[j]);
                s0 = w.fma(FloatVector.fromArray(FLOATS, values, v), s0);
                s1 = w.fma(FloatVector.fromArray(FLOATS, values, v + COUNT), s1);
                s2 = w.fma(FloatVector.fromArray(FLOATS, values, v + 2 * COUNT), s2);
                s3 = w.fma(FloatVector.fromArray(FLOATS, values, v + 3 * COUNT), s3);
                v += stride;
            }
            s0.intoArray(sums, at + d);
            s1.intoArray(sums, at + d + COUNT);
            s2.intoArray(sums, at + d + 2 * COUNT);
            s3.intoArray(sums, at + d + 3 * COUNT);
        }
        for (; d < stride; d += COUNT) {
            FloatVector s = FloatVector.fromArray(FLOATS, sums, at + d).mul(shrink);
            int v = from + d;
            for (int j = 0; j < count; j++) {
                s = FloatVector.broadcast(FLOATS, weights[j]).fma(FloatVector.fromArray(FLOATS, values, v), s);
                v += stride;
            }
            s.intoArray(sums, at + d);
        }
    }
}
