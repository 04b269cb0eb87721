package roselle.cuda.attention;

import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import roselle.api.CapacityException;
import roselle.backend.memory.KvCache;
import roselle.backend.memory.KvGroup;
import roselle.backend.memory.KvType;
import roselle.cuda.kernel.KernelNumbers;
import roselle.cuda.memory.ElasticMemory;
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
    private final Gpu device;
    private final long[] addresses;
    private final @Nullable ElasticMemory[] elastic;
    private final BitSet[] used; // [groups] pages that have memory

    public CudaKvCache(Gpu device, List<KvGroup> groups, KvType type, int pageTokens, int[] pages) {
        this.groups = List.copyOf(groups);
        this.type = type;
        this.pageTokens = pageTokens;
        this.pages = pages.clone();
        this.device = device;
        addresses = new long[groups.size()];
        elastic = new ElasticMemory[groups.size()];
        used = new BitSet[groups.size()];
        for (int group = 0; group < addresses.length; group++) {
            reserve(group, Math.multiplyExact(groups.get(group).layers(), layerBytes(group)));
        }
    }

    /** Small caches keep their memory, as all do where the device cannot take it away. */
    private void reserve(int group, long bytes) {
        used[group] = new BitSet(pages[group]);
        if (device.memory().isElastic() && device.memory().isLarge(bytes)) {
            elastic[group] = device.memory().reserve(bytes);
            addresses[group] = elastic[group].address();
        } else {
            addresses[group] = device.memory().allocateScratch(bytes);
            device.driver().clear(addresses[group], bytes, device.stream());
        }
    }

    /**
     * Has memory for pages of a group; of those that had none it holds zeros.
     *
     * @throws roselle.api.CapacityException if the device has not that much; nothing has changed then
     */
    public void take(int group, int[] taken) {
        ElasticMemory memory = elastic[group];
        if (memory == null) {
            return;
        }
        var before = (BitSet) used[group].clone();
        set(group, taken, true);
        try {
            memory.back(byteNumber -> isUsed(group, byteNumber, memory.chunkBytes()), device.stream());
        } catch (CapacityException full) {
            used[group] = before;
            throw full;
        }
    }

    /** Gives up the memory of pages of a group, in those chunks where no other page lies. */
    public void giveUp(int group, int[] given) {
        ElasticMemory memory = elastic[group];
        if (memory != null) {
            set(group, given, false);
            memory.giveUp(byteNumber -> isUsed(group, byteNumber, memory.chunkBytes()));
        }
    }

    private void set(int group, int[] which, boolean isUsed) {
        for (int page : which) {
            used[group].set(page, isUsed);
        }
    }

    /** Whether a page that is used lies in a chunk, in any layer. */
    private boolean isUsed(int group, long chunk, long chunkBytes) {
        long layerBytes = layerBytes(group);
        long end = Math.min(chunk + chunkBytes, groups.get(group).layers() * layerBytes);
        for (long layer = chunk / layerBytes; layer * layerBytes < end; layer++) {
            long from = Math.max(0, chunk - layer * layerBytes) / pageBytes(group);
            long until = Math.ceilDiv(Math.min(layerBytes, end - layer * layerBytes), pageBytes(group));
            int next = used[group].nextSetBit((int) from);
            if (next >= 0 && next < until) {
                return true;
            }
        }
        return false;
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
