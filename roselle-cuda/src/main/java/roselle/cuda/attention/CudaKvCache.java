package roselle.cuda.attention;

import java.util.List;
import roselle.backend.memory.KvCache;
import roselle.backend.memory.KvGroup;
import roselle.backend.memory.KvType;
import roselle.cuda.kernel.KernelNumbers;
import roselle.cuda.memory.Gpu;

/**
 * Pages of keys and values, or of states, in device memory: {@code [layer, page, keys then values]}, of codes
 * with their scales behind, or {@code [layer, page, rows then state]}.
 */
public final class CudaKvCache implements KvCache {
    private final List<KvGroup> groups;
    private final KvType type;
    private final int pageTokens;
    private final int[] pages;
    private final long[] addresses;

    public CudaKvCache(Gpu device, List<KvGroup> groups, KvType type, int pageTokens, int[] pages) {
        this.groups = List.copyOf(groups);
        this.type = type;
        this.pageTokens = pageTokens;
        this.pages = pages.clone();
        addresses = new long[groups.size()];
        for (int group = 0; group < addresses.length; group++) {
            long bytes = Math.multiplyExact(groups.get(group).layers(), layerBytes(group));
            addresses[group] = device.memory().allocate(bytes);
            device.driver().clear(addresses[group], bytes, device.stream());
        }
    }

    /** How the pages of a group are stored. */
    KvType type(int group) {
        return groups.get(group).storedAs(type);
    }

    /** Numbers of one page in one layer; bytes where it has codes. */
    public long pageElements(int group) {
        KvType stored = type(group);
        return pageBytes(group) / (stored.isCoded() ? 1 : stored.plain().blockBytes());
    }

    long pageBytes(int group) {
        return groups.get(group).layerBytes(pageTokens, type);
    }

    long layerBytes(int group) {
        return Math.multiplyExact(pages[group], pageBytes(group));
    }

    long address(int group) {
        return addresses[group];
    }

    /** The first page of a layer. */
    public long address(int group, int layer) {
        return addresses[group] + layer * layerBytes(group);
    }

    /** As kernels number the types of a cache. */
    int typeNumber(int group) {
        return KernelNumbers.ofCache(type(group));
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
