package roselle.cpu.memory;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.LongFunction;
import roselle.backend.memory.KvCache;
import roselle.backend.memory.KvGroup;
import roselle.cpu.format.Formats;
import roselle.cpu.format.WeightFormat;
import roselle.tensor.DataType;

/**
 * Pages of keys and values in native memory, one segment per group.
 *
 * <p>Layout: {@code [layer, page, keys [heads, pageTokens, keySize] then values [heads, pageTokens, valueSize]]}: the keys
 * of a head in a page are contiguous, and so are its values. Where layers keep a state:
 * {@code [layer, page, rows [pageTokens, keySize] then the state]}.
 */
public final class CpuKvCache implements KvCache {
    private final List<KvGroup> groups;
    private final DataType type;
    private final WeightFormat format;
    private final int pageTokens;
    private final int[] pages;
    private final MemorySegment[] segments;

    public CpuKvCache(
            LongFunction<MemorySegment> memory, List<KvGroup> groups, DataType type, int pageTokens, int[] pages) {
        this.groups = List.copyOf(groups);
        this.type = type;
        this.pageTokens = pageTokens;
        this.pages = pages.clone();
        if (type != DataType.F32 && type != DataType.F16 && type != DataType.BF16) {
            throw new IllegalArgumentException("the KV cache holds f32, f16 or bf16, not " + type.label());
        }
        format = Formats.of(type);
        segments = new MemorySegment[groups.size()];
        for (int group = 0; group < segments.length; group++) {
            long elements = Math.multiplyExact(groups.get(group).layers() * (long) pages[group], pageElements(group));
            segments[group] =
                    memory.apply(Math.multiplyExact(elements, stored(group).blockBytes()));
        }
    }

    public long bytes() {
        long bytes = 0;
        for (MemorySegment segment : segments) {
            bytes += segment.byteSize();
        }
        return bytes;
    }

    /** Numbers of one page in one layer. */
    long pageElements(int group) {
        return groups.get(group).pageElements(pageTokens);
    }

    private DataType stored(int group) {
        return groups.get(group).storedAs(type);
    }

    /** How stored numbers become floats. */
    public WeightFormat format() {
        return format;
    }

    public MemorySegment segment(int group) {
        return segments[group];
    }

    /** Index of the first number of the key of a token in a page. */
    public long key(int group, int layer, int page, int head, int token) {
        long inPage = ((long) head * pageTokens + token) * groups.get(group).keySize();
        return ((long) layer * pages[group] + page) * pageElements(group) + inPage;
    }

    /** Index of the first number of the value of a token in a page; its key's where values are prefixes of keys. */
    public long value(int group, int layer, int page, int head, int token) {
        KvGroup kind = groups.get(group);
        if (kind.valueSize() == 0) {
            return key(group, layer, page, head, token);
        }
        long keys = (long) kind.heads() * pageTokens * kind.keySize();
        long inPage = ((long) head * pageTokens + token) * kind.valueSize();
        return ((long) layer * pages[group] + page) * pageElements(group) + keys + inPage;
    }

    public void copyPage(int group, int from, int to) {
        long bytes = pageElements(group) * stored(group).blockBytes();
        MemorySegment segment = segments[group];
        for (int layer = 0; layer < groups.get(group).layers(); layer++) {
            long first = (long) layer * pages[group] * bytes;
            MemorySegment.copy(segment, first + from * bytes, segment, first + to * bytes, bytes);
        }
    }

    @Override
    public List<KvGroup> groups() {
        return groups;
    }

    @Override
    public DataType type() {
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
