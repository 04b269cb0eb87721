package roselle.cpu;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import roselle.backend.AttentionLayer;
import roselle.backend.Norm;
import roselle.backend.Rope;
import roselle.backend.Rows;

/** Normalises and rotates queries and keys, and appends keys and values to their pages. */
final class RopeAndAppend {
    private RopeAndAppend() {}

    /** The rows {@code first} until {@code end} of a step. */
    static void scalar(
            Step step, Rows query, Rows key, Rows value, AttentionLayer layer, CpuKvCache cache, int first, int end) {
        var heads = layer.heads();
        for (int r = first; r < end; r++) {
            int position = step.position(r);
            normalizeAndRotate(
                    query, r, heads.queryHeads(), heads.keySize(), layer.queryNorm(), layer.rope(), position);
            normalizeAndRotate(key, r, heads.keyHeads(), heads.keySize(), layer.keyNorm(), layer.rope(), position);
            append(step, key, value, layer, cache, r);
        }
    }

    /** The rows {@code first} until {@code end} of a step, for latent attention. */
    static void scalarLatent(
            Step step,
            Rows query,
            Rows latent,
            Rows absorbed,
            AttentionLayer layer,
            CpuKvCache cache,
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
                rotate(CpuBuffer.of(absorbed), to, layer.rope(), position);
            }
            long tail = CpuBuffer.row(latent, r) + heads.valueSize();
            rotate(CpuBuffer.of(latent), tail, layer.rope(), position);
            long at = cache.key(layer.group(), layer.layer(), step.page(layer.group(), r), 0, step.pageToken(r));
            store(latent, CpuBuffer.row(latent, r), cache, layer.group(), at, heads.keySize());
        }
    }

    private static void normalizeAndRotate(
            Rows rows, int r, int heads, int size, @Nullable Norm norm, @Nullable Rope rope, int position) {
        MemorySegment segment = CpuBuffer.of(rows);
        for (int h = 0; h < heads; h++) {
            long at = CpuBuffer.row(rows, r) + (long) h * size;
            if (norm != null) {
                Normalize.part(segment, at, norm, Normalize.weightFrom(norm, h, size), segment, at, size);
            }
            rotate(segment, at, rope, position);
        }
    }

    /** Turns the pairs of one head. */
    static void rotate(MemorySegment segment, long at, @Nullable Rope rope, int position) {
        if (rope == null) {
            return;
        }
        MemorySegment frequencies = CpuBuffer.of(rope.inverseFrequencies());
        int pairs = (int) rope.inverseFrequencies().elements();
        for (int i = 0; i < pairs; i++) {
            float angle = position * CpuBuffer.number(frequencies, i);
            float cosine = (float) Math.cos(angle) * rope.factor();
            float sine = (float) Math.sin(angle) * rope.factor();
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
        int page = step.page(layer.group(), r);
        for (int h = 0; h < heads.keyHeads(); h++) {
            long toKey = cache.key(layer.group(), layer.layer(), page, h, step.pageToken(r));
            long toValue = cache.value(layer.group(), layer.layer(), page, h, step.pageToken(r));
            long fromKey = CpuBuffer.row(key, r) + (long) h * heads.keySize();
            long fromValue = CpuBuffer.row(value, r) + (long) h * heads.valueSize();
            store(key, fromKey, cache, layer.group(), toKey, heads.keySize());
            store(value, fromValue, cache, layer.group(), toValue, heads.valueSize());
        }
    }

    private static void store(Rows rows, long from, CpuKvCache cache, int group, long to, int count) {
        MemorySegment source = CpuBuffer.of(rows);
        int bytes = cache.type().blockBytes();
        for (int i = 0; i < count; i++) {
            float x = CpuBuffer.number(source, from + i);
            ScalarFormats.store(cache.type(), cache.segment(group), (to + i) * bytes, x);
        }
    }

    private static void copy(MemorySegment source, long from, MemorySegment target, long to, int count) {
        for (int i = 0; i < count; i++) {
            CpuBuffer.number(target, to + i, CpuBuffer.number(source, from + i));
        }
    }
}
