package roselle.cpu.memory;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.LongFunction;
import roselle.backend.memory.KvCache;
import roselle.backend.memory.KvGroup;
import roselle.backend.memory.KvType;
import roselle.cpu.format.KvFormat;
import roselle.cpu.machine.OwnedMemory;

/**
 * Pages of keys and values in native memory, one segment per group.
 *
 * <p>Layout: {@code [layer, page, keys [heads, pageTokens, keySize] then values [heads, pageTokens, valueSize]]}: the keys
 * of a head in a page are contiguous, and so are its values. Where they are codes, what they are multiplied by follows within the
 * page: {@code [heads, pageTokens]} of the keys, then of the values. Where layers keep a state:
 * {@code [layer, page, rows [pageTokens, keySize] then the state]}.
 */
public final class CpuKvCache implements KvCache {
    private final List<KvGroup> groups;
    private final KvType type;
    private final KvFormat[] formats;
    private final int pageTokens;
    private final int[] pages;
    private final MemorySegment[] segments;
    private final Layout[] layouts;

    /** Where in a page of a group what begins, and how many bytes it takes. */
    private record Layout(
            KvType stored,
            int heads,
            int keys,
            long keyBytes,
            long valueBytes,
            long valuesAt,
            long scalesAt,
            long pageBytes) {
        static Layout of(KvGroup group, KvType type, int pageTokens) {
            KvType stored = group.storedAs(type);
            int keys = group.pageKeys(pageTokens);
            long keyBytes = stored.codeBytes(group.keySize());
            long valueBytes = stored.codeBytes(group.valueSize());
            long rows = (long) group.heads() * keys;
            return new Layout(
                    stored,
                    group.heads(),
                    keys,
                    keyBytes,
                    valueBytes,
                    rows * keyBytes,
                    rows * (keyBytes + valueBytes),
                    group.layerBytes(pageTokens, type));
        }

        boolean hasValues() {
            return valueBytes != 0;
        }
    }

    public CpuKvCache(
            LongFunction<MemorySegment> memory, List<KvGroup> groups, KvType type, int pageTokens, int[] pages) {
        this.groups = List.copyOf(groups);
        this.type = type;
        this.pageTokens = pageTokens;
        this.pages = pages.clone();
        formats = new KvFormat[groups.size()];
        segments = new MemorySegment[groups.size()];
        layouts = new Layout[groups.size()];
        for (int group = 0; group < segments.length; group++) {
            layouts[group] = Layout.of(groups.get(group), type, pageTokens);
            formats[group] = KvFormat.of(stored(group));
            segments[group] = memory.apply(
                    Math.multiplyExact(groups.get(group).layers() * (long) pages[group], pageBytes(group)));
        }
    }

    public long bytes() {
        long bytes = 0;
        for (MemorySegment segment : segments) {
            bytes += segment.byteSize();
        }
        return bytes;
    }

    /** Bytes of one page in one layer. */
    long pageBytes(int group) {
        return layouts[group].pageBytes;
    }

    /** How a group's keys and values are stored. */
    public KvType stored(int group) {
        return layouts[group].stored;
    }

    /** How a group's keys and values become floats, and floats keys and values. */
    public KvFormat format(int group) {
        return formats[group];
    }

    public MemorySegment segment(int group) {
        return segments[group];
    }

    private long page(int group, int layer, int page) {
        return ((long) layer * pages[group] + page) * layouts[group].pageBytes;
    }

    /** Where the key of a token in a page begins. */
    public long keyAt(int group, int layer, int page, int head, int token) {
        Layout at = layouts[group];
        return page(group, layer, page) + ((long) head * at.keys + token) * at.keyBytes;
    }

    /** Where the value of a token in a page begins; its key where values are prefixes of keys. */
    public long valueAt(int group, int layer, int page, int head, int token) {
        Layout at = layouts[group];
        return at.hasValues()
                ? page(group, layer, page) + at.valuesAt + ((long) head * pageTokens + token) * at.valueBytes
                : keyAt(group, layer, page, head, token);
    }

    /** Where what the codes of a key are multiplied by begins. */
    public long keyScalesAt(int group, int layer, int page, int head, int token) {
        Layout at = layouts[group];
        long scale = (long) head * pageTokens + token;
        return page(group, layer, page) + at.scalesAt + scale * at.stored.scaleBytes();
    }

    /** Where what the codes of a value are multiplied by begins; its key's where values are prefixes of keys. */
    public long valueScalesAt(int group, int layer, int page, int head, int token) {
        Layout at = layouts[group];
        return keyScalesAt(group, layer, page, (at.hasValues() ? at.heads : 0) + head, token);
    }

    /** Index of the first number of a token's row, where layers keep a state. */
    public long row(int group, int layer, int page, int token) {
        return keyAt(group, layer, page, 0, token) / Float.BYTES;
    }

    public void copyPage(int group, int from, int to) {
        long bytes = pageBytes(group);
        MemorySegment segment = segments[group];
        for (int layer = 0; layer < groups.get(group).layers(); layer++) {
            long first = page(group, layer, 0);
            MemorySegment.copy(segment, first + from * bytes, segment, first + to * bytes, bytes);
        }
    }

    /** Gives the memory of pages back, ascending ones that follow each other together. */
    public void discard(int group, int[] unused) {
        for (int from = 0, to = 1; from < unused.length; from = to, to++) {
            while (to < unused.length && unused[to] == unused[to - 1] + 1) {
                to++;
            }
            for (int layer = 0; layer < groups.get(group).layers(); layer++) {
                OwnedMemory.discard(segments[group], page(group, layer, unused[from]), (to - from) * pageBytes(group));
            }
        }
    }

    @Override
    public List<KvGroup> groups() {
        return groups;
    }

    @Override
    public KvType type() {
        return type;
    }

    @Override
    public int pageTokens() {
        return pageTokens;
    }

    @Override
    public int pages(int group) {
        return pages[group];
    }
}
