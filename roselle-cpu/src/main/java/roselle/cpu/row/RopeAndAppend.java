package roselle.cpu.row;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Rows;
import roselle.backend.operation.AttentionLayer;
import roselle.backend.operation.Norm;
import roselle.backend.operation.PositionScale;
import roselle.backend.operation.Rope;
import roselle.cpu.memory.CpuBuffer;
import roselle.cpu.memory.CpuKvCache;
import roselle.cpu.memory.Step;

/** Normalises and rotates queries and keys, and appends keys and values to their pages. */
final class RopeAndAppend {
    private RopeAndAppend() {}

    /** The rows {@code first} until {@code end} of a step. */
    static void rows(
            Step step,
            Rows query,
            Rows key,
            Rows value,
            AttentionLayer layer,
            CpuKvCache cache,
            Scratch scratch,
            int first,
            int end) {
        var heads = layer.heads();
        for (int r = first; r < end; r++) {
            int position = step.position(r);
            int size = heads.keySize();
            turn(query, r, heads.queryHeads(), size, layer, layer.queryNorm(), position, scratch);
            grow(layer.traits().queryScale(), position, query, r, heads.queryHeads() * size);
            if (layer.appends()) {
                turn(key, r, heads.keyHeads(), size, layer, layer.keyNorm(), position, scratch);
                append(step, key, value, layer, cache, r);
            }
        }
    }

    /** The rows {@code first} until {@code end} of a step, for latent attention. */
    static void latentRows(
            Step step,
            Rows query,
            Rows latent,
            Rows absorbed,
            AttentionLayer layer,
            CpuKvCache cache,
            Scratch scratch,
            int first,
            int end) {
        var heads = layer.heads();
        int turned = heads.keySize() - heads.valueSize();
        int querySize = query.columns() / heads.queryHeads();
        for (int r = first; r < end; r++) {
            int position = step.position(r);
            for (int h = 0; h < heads.queryHeads(); h++) {
                long from = CpuBuffer.row(query, r) + (long) (h + 1) * querySize - turned;
                long to = CpuBuffer.row(absorbed, r) + (long) (h + 1) * heads.keySize() - turned;
                copy(CpuBuffer.of(query), from, CpuBuffer.of(absorbed), to, turned);
                rotate(CpuBuffer.of(absorbed), to, layer.rope(), position, scratch.angles());
            }
            grow(layer.traits().queryScale(), position, absorbed, r, heads.queryHeads() * heads.keySize());
            long tail = CpuBuffer.row(latent, r) + heads.valueSize();
            rotate(CpuBuffer.of(latent), tail, layer.rope(), position, scratch.angles());
            storeKey(step, latent, CpuBuffer.row(latent, r), layer, cache, r, 0);
        }
    }

    /** Normalises and rotates the heads of a row, or first rotates them. */
    private static void turn(
            Rows rows,
            int r,
            int heads,
            int size,
            AttentionLayer layer,
            @Nullable Norm norm,
            int position,
            Scratch scratch) {
        MemorySegment segment = CpuBuffer.of(rows);
        boolean rotatesFirst = layer.traits().normsTurned();
        for (int h = 0; h < heads; h++) {
            long at = CpuBuffer.row(rows, r) + (long) h * size;
            if (rotatesFirst) {
                rotate(segment, at + layer.turnsFrom(), layer.rope(), position, scratch.angles());
            }
            if (norm != null) {
                float[] x = scratch.x();
                MemorySegment.copy(segment, JAVA_FLOAT, at * Float.BYTES, x, 0, size);
                Normalize.vector(x, size, norm, Normalize.weightFrom(norm, h, size), scratch.lanes());
                MemorySegment.copy(x, 0, segment, JAVA_FLOAT, at * Float.BYTES, size);
            }
            if (!rotatesFirst) {
                rotate(segment, at + layer.turnsFrom(), layer.rope(), position, scratch.angles());
            }
        }
    }

    /** Multiplies a row by the factor of its position. */
    private static void grow(@Nullable PositionScale scale, int position, Rows rows, int r, int count) {
        float factor = scale == null ? 1f : scale.at(position);
        if (factor == 1f) {
            return;
        }
        long at = CpuBuffer.row(rows, r);
        for (int i = 0; i < count; i++) {
            CpuBuffer.number(CpuBuffer.of(rows), at + i, factor * CpuBuffer.number(CpuBuffer.of(rows), at + i));
        }
    }

    /** Turns the heads of a row back. */
    static void turnBack(Rows rows, int r, AttentionLayer layer, int position, Angles angles) {
        int size = layer.heads().valueSize();
        for (int h = 0; h < layer.heads().queryHeads(); h++) {
            long at = CpuBuffer.row(rows, r) + (long) h * size + layer.turnsFrom();
            rotate(CpuBuffer.of(rows), at, layer.rope(), position, angles, -1f);
        }
    }

    /** Turns the pairs of one head. */
    static void rotate(MemorySegment segment, long at, @Nullable Rope rope, int position, Angles angles) {
        rotate(segment, at, rope, position, angles, 1f);
    }

    private static void rotate(
            MemorySegment segment, long at, @Nullable Rope rope, int position, Angles angles, float direction) {
        if (rope == null) {
            return;
        }
        angles.turnTo(rope, position);
        int pairs = Math.toIntExact(rope.inverseFrequencies().elements());
        for (int i = 0; i < pairs; i++) {
            float cosine = angles.cosine(i);
            float sine = direction * angles.sine(i);
            long one = at + (rope.interleaved() ? 2L * i : i);
            long other = at + (rope.interleaved() ? 2L * i + 1 : i + pairs);
            float x = CpuBuffer.number(segment, one);
            float y = CpuBuffer.number(segment, other);
            CpuBuffer.number(segment, one, x * cosine - y * sine);
            CpuBuffer.number(segment, other, y * cosine + x * sine);
        }
    }

    private static void append(Step step, Rows key, Rows value, AttentionLayer layer, CpuKvCache cache, int r) {
        var heads = layer.heads();
        boolean hasValues = cache.groups().get(layer.group()).valueSize() != 0;
        for (int h = 0; h < heads.keyHeads(); h++) {
            storeKey(step, key, CpuBuffer.row(key, r) + (long) h * heads.keySize(), layer, cache, r, h);
            if (hasValues) {
                storeValue(step, value, CpuBuffer.row(value, r) + (long) h * heads.valueSize(), layer, cache, r, h);
            }
        }
    }

    private static void storeKey(
            Step step, Rows keys, long from, AttentionLayer layer, CpuKvCache cache, int r, int head) {
        int group = layer.group();
        int page = step.page(group, r);
        long to = cache.keyAt(group, layer.layer(), page, head, step.pageToken(r));
        long scales = cache.keyScalesAt(group, layer.layer(), page, head, step.pageToken(r));
        int size = layer.heads().keySize();
        cache.format(group).store(CpuBuffer.of(keys), from, size, cache.segment(group), to, scales);
    }

    private static void storeValue(
            Step step, Rows values, long from, AttentionLayer layer, CpuKvCache cache, int r, int head) {
        int group = layer.group();
        int page = step.page(group, r);
        long to = cache.valueAt(group, layer.layer(), page, head, step.pageToken(r));
        long scales = cache.valueScalesAt(group, layer.layer(), page, head, step.pageToken(r));
        int size = layer.heads().valueSize();
        cache.format(group).store(CpuBuffer.of(values), from, size, cache.segment(group), to, scales);
    }

    private static void copy(MemorySegment source, long from, MemorySegment target, long to, int count) {
        for (int i = 0; i < count; i++) {
            CpuBuffer.number(target, to + i, CpuBuffer.number(source, from + i));
        }
    }
}
