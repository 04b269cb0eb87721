package roselle.kvcache;

/** Plants faults into a cache that no caller of its interface could commit. */
public final class CacheSaboteur {
    private CacheSaboteur() {}

    /** Loses one user of a shared page that the sequence has in its table, as a forgotten increment would. */
    public static boolean loseUser(PageCache cache, SequencePages pages) {
        for (int index = 0; index < pages.depth; index++) {
            for (int group = 0; group < pages.table.length; group++) {
                if (pages.table[group][index] >= 0 && cache.cached().tree.users[group][pages.path[index]] > 0) {
                    cache.cached().release(group, pages.path[index]);
                    return true;
                }
            }
        }
        return false;
    }

    /** Frees a shared page in spite of its users, as the eviction of a locked leaf would. */
    public static boolean evictInUse(PageCache cache, SequencePages pages) {
        for (int index = 0; index < pages.depth; index++) {
            if (pages.table[0][index] >= 0) {
                cache.pool(0).evict(pages.table[0][index]);
                return true;
            }
        }
        return false;
    }

    /** Frees a page that its owner goes on using. */
    public static boolean freeOwned(PageCache cache, SequencePages pages) {
        int index = pages.pageCount - 1;
        if (index < pages.depth || pages.table[0][index] < 0) {
            return false;
        }
        cache.pool(0).giveBack(pages.table[0][index]);
        return true;
    }

    /** Loses the lock of the node a sequence stands on, so that it may be evicted under it. */
    public static boolean loseLock(PageCache cache, SequencePages pages) {
        if (pages.depth == 0) {
            return false;
        }
        cache.cached().tree.locks[pages.tip]--;
        return true;
    }

    /** Enters a page into the tree before the step that fills it has run. */
    public static boolean insertTooEarly(PageCache cache, SequencePages pages, int[] ids, int length) {
        int end = (pages.depth + 1) * cache.layout().pageTokens();
        if (pages.needsCopy() || end > length || pages.pageCount <= pages.depth) {
            return false;
        }
        pages.commit(ids, end);
        return true;
    }
}
