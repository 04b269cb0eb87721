package roselle.cpu.row;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.util.Objects.requireNonNull;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.KvGroup;
import roselle.backend.memory.Rows;
import roselle.backend.operation.AttentionLayer;
import roselle.backend.operation.Compression;
import roselle.cpu.memory.CpuBuffer;
import roselle.cpu.memory.CpuKvCache;
import roselle.cpu.memory.Step;
import roselle.cpu.vector.VectorFunctions;

/** {@link roselle.backend.operation.Operations#compress}: each key by itself, of its tokens in their order. */
public final class Compressing implements RowOperation {
    private @Nullable Step step;
    private @Nullable Compression kind;
    private @Nullable CpuKvCache cache;
    private @Nullable Rows room;

    /** What is made of the current step's rows. */
    public Compressing of(Step now, Compression compression, CpuKvCache pages, Rows place) {
        step = now;
        kind = compression;
        cache = pages;
        room = place;
        return this;
    }

    @Override
    public void run(Scratch own, int first, int end) {
        Step now = requireNonNull(step, "step");
        Compression how = requireNonNull(kind, "kind");
        CpuKvCache pages = requireNonNull(cache, "cache");
        int tokens = pages.groups().get(how.keys().group()).tokens();
        for (int r = first; r < end; r++) {
            if ((now.position(r) + 1) % tokens == 0) {
                key(now, how, pages, r, tokens, own);
            }
        }
    }

    /** The key whose last token a row is. */
    private void key(Step now, Compression how, CpuKvCache pages, int row, int tokens, Scratch own) {
        int last = now.position(row);
        int begin = last + 1 - tokens;
        int first = how.overlaps() ? Math.max(0, begin - tokens) : begin;
        int size = how.size();
        int count = last + 1 - first;
        float[] room = own.room((count + 3) * size); // gates of all tokens, then the largest, totals and sums
        int largest = count * size;
        int totals = largest + size;
        int sums = totals + size;
        Arrays.fill(room, largest, totals, Float.NEGATIVE_INFINITY);
        Arrays.fill(room, totals, sums + size, 0f);
        for (int p = first; p <= last; p++) {
            load(now, how, pages, row, p, true, own);
            int vector = vector(how, p, begin);
            long bias = (long) (p % tokens) * how.given() + vector;
            for (int i = 0, at = (p - first) * size; i < size; i++, at++) {
                room[at] = own.x()[vector + i] + CpuBuffer.number(CpuBuffer.of(how.bias()), bias + i);
                room[largest + i] = Math.max(room[largest + i], room[at]);
            }
        }
        for (int p = first; p <= last; p++) {
            for (int i = 0, at = (p - first) * size; i < size; i++, at++) {
                own.y()[i] = room[at] - room[largest + i];
            }
            VectorFunctions.softmaxWeights(own.y(), size, 0f, own.lanes());
            load(now, how, pages, row, p, false, own);
            int vector = vector(how, p, begin);
            for (int i = 0; i < size; i++) {
                room[totals + i] += own.y()[i];
                room[sums + i] += own.y()[i] * own.x()[vector + i];
            }
        }
        for (int i = 0; i < size; i++) {
            own.x()[i] = room[sums + i] / room[totals + i];
        }
        store(now, how.keys(), pages, row, begin, own);
    }

    /** Where in what a token gives the vector begins that goes into the key whose own tokens begin at a position. */
    private static int vector(Compression how, int position, int begin) {
        return how.overlaps() && position >= begin ? how.size() : 0;
    }

    /** What a token gives: its vectors, or their gates. */
    private static void load(
            Step now, Compression how, CpuKvCache pages, int row, int position, boolean gates, Scratch own) {
        AttentionLayer given = how.tokens();
        int group = given.group();
        int page = now.page(group, now.sequence(row), position);
        int token = position % pages.pageTokens();
        long at = gates
                ? pages.valueAt(group, given.layer(), page, 0, token)
                : pages.keyAt(group, given.layer(), page, 0, token);
        long scalesAt = gates
                ? pages.valueScalesAt(group, given.layer(), page, 0, token)
                : pages.keyScalesAt(group, given.layer(), page, 0, token);
        pages.format(group)
                .load(pages.segment(group), at, scalesAt, how.given(), 1, own.x(), 0, own.x().length, own.unpacked());
    }

    /** Normalises, turns and stores a key. */
    private void store(Step now, AttentionLayer keys, CpuKvCache pages, int row, int begin, Scratch own) {
        Rows place = requireNonNull(room, "room");
        int size = keys.heads().keySize();
        if (keys.keyNorm() != null) {
            Normalize.vector(own.x(), size, keys.keyNorm(), 0, own.lanes());
        }
        MemorySegment segment = CpuBuffer.of(place);
        long from = CpuBuffer.row(place, row);
        MemorySegment.copy(own.x(), 0, segment, JAVA_FLOAT, from * Float.BYTES, size);
        RopeAndAppend.rotate(segment, from + keys.turnsFrom(), keys.rope(), begin, own.angles());
        KvGroup group = pages.groups().get(keys.group());
        int page = now.page(keys.group(), row);
        int before = group.keysBefore(now.position(row) / pages.pageTokens() * pages.pageTokens());
        int slot = begin / group.tokens() - before;
        long to = pages.keyAt(keys.group(), keys.layer(), page, 0, slot);
        long scales = pages.keyScalesAt(keys.group(), keys.layer(), page, 0, slot);
        pages.format(keys.group()).store(segment, from, size, pages.segment(keys.group()), to, scales);
    }
}
