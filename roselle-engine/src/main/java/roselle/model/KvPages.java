package roselle.model;

import java.util.List;
import roselle.backend.memory.KvType;

/** How the cache of a decoder is allocated: its type, and how many pages each group has. */
public record KvPages(KvType type, List<Integer> pages) {
    public KvPages {
        pages = List.copyOf(pages);
    }
}
