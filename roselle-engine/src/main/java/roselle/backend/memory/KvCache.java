package roselle.backend.memory;

import java.util.List;

/** The pages of keys and values of all groups on a device; the page tables of a step say whose they are. */
public interface KvCache {
    List<KvGroup> groups();

    /** How keys and values are stored, as far as {@link KvGroup#storedAs} leaves it. */
    KvType type();

    int pageTokens();

    /** Pages of one group. */
    int pages(int group);
}
