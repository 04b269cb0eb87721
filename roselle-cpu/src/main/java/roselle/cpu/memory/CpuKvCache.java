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

    public CpuKvCache(
            LongFunction<MemorySegment> memory, List<KvGroup> groups, KvType type, int pageTokens, int[] pages) {
        this.groups = List.copyOf(groups);
        this.type = type;
        this.pageTokens = pageTokens;
        this.pages = pages.clone();
        formats = new KvFormat[groups.size()];
        segments = new MemorySegment[groups.size()];
        for (int group = 0; group < segments.length; group++) {
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
        return groups.get(group).layerBytes(pageTokens, type);
    }

    /** How a group's keys and values are stored. */
    public KvType stored(int group) {
        return groups.get(group).storedAs(type);
    }

    /** How a group's keys and values become floats, and floats keys and values. */
    public KvFormat format(int group) {
        return formats[group];
    }

    public MemorySegment segment(int group) {
        return segments[group];
    }

    private long page(int group, int layer, int page) {
        return ((long) layer * pages[group] + page) * pageBytes(group);
    }

    /** Where the key of a token in a page begins. */
    public long keyAt(int group, int layer, int page, int head, int token) {
        KvGroup kind = groups.get(group);
        long inPage = ((long) head * kind.pageKeys(pageTokens) + token)
                * stored(group).codeBytes(kind.keySize());
        return page(group, layer, page) + inPage;
    }

    /** Where the value of a token in a page begins; its key where values are prefixes of keys. */
    public long valueAt(int group, int layer, int page, int head, int token) {
        KvGroup kind = groups.get(group);
        if (kind.valueSize() == 0) {
            return keyAt(group, layer, page, head, token);
        }
        long keys = (long) kind.heads() * pageTokens * stored(group).codeBytes(kind.keySize());
        long inPage = ((long) head * pageTokens + token) * stored(group).codeBytes(kind.valueSize());
        return page(group, layer, page) + keys + inPage;
    }

    /** Where what the codes of a key are multiplied by begins. */
    public long keyScalesAt(int group, int layer, int page, int head, int token) {
        KvGroup kind = groups.get(group);
        KvType stored = stored(group);
        long codes = (long) kind.heads()
                * kind.pageKeys(pageTokens)
                * (stored.codeBytes(kind.keySize()) + stored.codeBytes(kind.valueSize()));
        return page(group, layer, page) + codes + ((long) head * pageTokens + token) * stored.scaleBytes();
    }

    /** Where what the codes of a value are multiplied by begins; its key's where values are prefixes of keys. */
    public long valueScalesAt(int group, int layer, int page, int head, int token) {
        KvGroup kind = groups.get(group);
        int first = kind.valueSize() == 0 ? 0 : kind.heads();
        return keyScalesAt(group, layer, page, first + head, token);
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
