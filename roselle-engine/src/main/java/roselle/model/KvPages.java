package roselle.model;

import java.util.List;
import roselle.backend.memory.KvType;

/**
 * How the cache of a decoder is allocated.
 *
 * @param type of keys and values
 * @param pages how many each group has
 * @param areReserved whether they have no memory until they are taken, where the device can do so
 */
public record KvPages(KvType type, List<Integer> pages, boolean areReserved) {
    /** Pages that have their memory. */
    public KvPages(KvType type, List<Integer> pages) {
        this(type, pages, false);
    }

    public KvPages {
        pages = List.copyOf(pages);
    }
}
