package roselle.kvcache;

import static roselle.kvcache.PrefixTree.NONE;

/**
 * The prefix tree together with the pools its pages come from: who uses a page, and which is evicted next.
 *
 * <p>Two kinds of pages are evicted differently. A page of a group that sees everything is of use only with all pages before
 * it, so only leaves go, the one used longest ago first. A page of a sliding-window group is of use only near the end of a
 * match, so any page that no sequence uses may go, and its node stays as the path to deeper ones. A leaf nobody stands on
 * that lacks a page of any group can end no match; it is removed at once, and so may its parent be. Hence a page without
 * users is always within reach of eviction, and {@link #available} is exact.
 *
 * <p>States are evicted like pages of a window, but not by time: first those behind steps of prompts ({@link #PASSED}), then those
 * that a later prompt went on from ({@link #OUTRUN}), at last ends of prompts and answers and the points where sequences part
 * ({@link #LIKELY}); of the last two what is worth least, by what a loss would have others compute again.
 */
final class CachedPages {
    private final PageLayout layout;
    private final PagePool[] pools;
    private final LastUseHeap leaves; // leaves without locks
    private final LastUseHeap[] behind; // [groups] nodes whose window page has no users; empty for other groups
    private final int[] withoutUsers; // [groups] cached pages without users
    private final byte[][] rank; // [groups][nodes] of states
    private final long[] floor; // [groups] what the last state that went was worth
    private long time;

    /** A state behind a step of a prompt, which nobody marked. */
    private static final byte PASSED = 0;
    /** A state with the end of a later prompt behind it and no branch in between. */
    private static final byte OUTRUN = 1;
    /** A state that somebody is likely to go on from. */
    private static final byte LIKELY = 2;

    private static final int RANK_SHIFT = 56;

    final PrefixTree tree;

    CachedPages(PageLayout layout, PagePool[] pools, PrefixTree tree) {
        this.layout = layout;
        this.pools = pools;
        this.tree = tree;
        leaves = new LastUseHeap(tree.capacity());
        behind = new LastUseHeap[pools.length];
        rank = new byte[pools.length][];
        floor = new long[pools.length];
        for (int group = 0; group < pools.length; group++) {
            rank[group] = new byte[layout.isSparse(group) ? tree.capacity() : 0];
            behind[group] = new LastUseHeap(layout.slides(group) ? tree.capacity() : 0);
        }
        withoutUsers = new int[pools.length];
    }

    /** Pages of {@code group} that can be had: free ones and cached ones without users. */
    int available(int group) {
        return pools[group].free() + withoutUsers[group];
    }

    int withoutUsers(int group) {
        return withoutUsers[group];
    }

    boolean isEvictableLeaf(int node) {
        return leaves.contains(node);
    }

    boolean isEvictablePage(int group, int node) {
        return layout.slides(group) && behind[group].contains(node);
    }

    /** The current logical time: it orders uses, and moves when {@link #tick} says so. */
    long time() {
        return time;
    }

    void tick() {
        time++;
    }

    /** A page for a new owner, taken from the free ones or from whoever used theirs longest ago; {@link #available} is at least 1. */
    int take(int group) {
        makeFree(group, 1);
        return pools[group].take();
    }

    /** Evicts until so many pages are free; {@link #available} is at least as many. */
    void makeFree(int group, int pages) {
        while (pools[group].free() < pages) {
            evict(group);
        }
    }

    private void evict(int group) {
        if (!layout.slides(group)) {
            if (!evictLeaf()) {
                throw new IllegalStateException("no leaf to evict for a page that is counted as available");
            }
            return;
        }
        if (layout.isSparse(group)) {
            floor[group] = Math.max(floor[group], behind[group].oldest() - ((long) LIKELY << RANK_SHIFT));
        }
        int node = behind[group].removeOldest();
        if (layout.isSparse(group) && rank[group][node] == LIKELY) {
            restoreAbove(group, node);
        }
        dropPage(group, node);
        settle(node);
    }

    /** Removes the leaf used longest ago and says whether there was one. */
    boolean evictLeaf() {
        if (leaves.isEmpty()) {
            return false;
        }
        int node = leaves.removeOldest();
        int above = tree.parent(node);
        removeNode(node);
        settle(above);
        return true;
    }

    private void removeNode(int node) {
        for (int group = 0; group < pools.length; group++) {
            int page = tree.page[group][node];
            if (page == NONE) {
                continue;
            }
            if (tree.users[group][node] != 0) {
                throw new IllegalStateException("page " + page + " would be evicted under its users");
            }
            if (layout.slides(group)) {
                behind[group].remove(node);
            }
            tree.page[group][node] = NONE;
            withoutUsers[group]--;
            pools[group].evict(page);
        }
        tree.remove(node);
    }

    /** Adds a user to a page of the tree. */
    void retain(int group, int node) {
        if (tree.users[group][node]++ == 0) {
            withoutUsers[group]--;
            if (layout.slides(group)) {
                behind[group].remove(node);
            }
        }
    }

    /** Takes a user from a page of the tree. */
    void release(int group, int node) {
        int left = --tree.users[group][node];
        if (left < 0) {
            throw new IllegalStateException("page " + tree.page[group][node] + " is released more often than retained");
        }
        tree.lastUse[node] = time;
        if (left == 0) {
            withoutUsers[group]++;
            if (layout.slides(group)) {
                behind[group].add(node, key(group, node, time));
            }
        }
    }

    /**
     * Takes a user from a state that others are likely to go on from. It, and those that it came from, are worth the pages up to the
     * next such state above, on top of what the last state that went was worth (GreedyDual-Size; Cao and Irani, 1997), so that those
     * on a way that is used stay.
     *
     * @param outruns whether it is the end of a prompt, so that those above it up to a branch have had their turn
     */
    void releaseLikely(int group, int node, boolean outruns) {
        rank[group][node] = LIKELY;
        release(group, node);
        int child = node;
        int lower = node;
        int distance = 0;
        boolean branches = false;
        for (int above = tree.parent(node); above != NONE; above = tree.parent(above)) {
            branches |= !isOnlyChild(child);
            distance++;
            child = above;
            if (tree.page[group][above] == NONE || rank[group][above] == PASSED) {
                continue;
            }
            if (outruns && !branches && rank[group][above] == LIKELY) {
                rank[group][above] = OUTRUN;
                order(group, above, floor[group] + distance);
            }
            if (rank[group][above] == LIKELY) {
                order(group, lower, floor[group] + distance);
                lower = above;
                distance = 0;
            }
        }
        order(group, lower, floor[group] + distance);
    }

    /** Where the last state of a line goes, the one before it is the last. */
    private void restoreAbove(int group, int node) {
        int child = node;
        for (int above = tree.parent(node); above != NONE; above = tree.parent(above)) {
            if (!isOnlyChild(child)) {
                return;
            }
            if (tree.page[group][above] != NONE && rank[group][above] != PASSED) {
                if (rank[group][above] == OUTRUN) {
                    rank[group][above] = LIKELY;
                    order(group, above, floor[group] + 1);
                }
                return;
            }
            child = above;
        }
    }

    private boolean isOnlyChild(int node) {
        return tree.firstChild(tree.parent(node)) == node && tree.nextSibling(node) == NONE;
    }

    /** Puts an idle state where its rank and its worth have it. */
    private void order(int group, int node, long worth) {
        if (behind[group].contains(node)) {
            behind[group].remove(node);
            behind[group].add(node, key(group, node, worth));
        }
    }

    private long key(int group, int node, long worth) {
        return layout.isSparse(group) ? ((long) rank[group][node] << RANK_SHIFT) + worth : worth;
    }

    /** Takes a user from a page that slides, and where it was the last, the page from the tree. */
    void discard(int group, int node) {
        release(group, node);
        if (tree.users[group][node] == 0) {
            behind[group].remove(node);
            dropPage(group, node);
            settle(node);
        }
    }

    private void dropPage(int group, int node) {
        pools[group].evict(tree.page[group][node]);
        tree.page[group][node] = NONE;
        withoutUsers[group]--;
    }

    /** Keeps a node in the tree for a sequence that stands on it. */
    void lock(int node) {
        if (tree.locks[node]++ == 0) {
            leaves.remove(node);
        }
    }

    void unlock(int node) {
        if (--tree.locks[node] < 0) {
            throw new IllegalStateException("node " + node + " is unlocked more often than locked");
        }
        settle(node);
    }

    /** Gives an owner's full page to a node that has none yet; the giver stays a user of it. */
    void donate(int group, int node, int page) {
        pools[group].cache(page);
        tree.page[group][node] = page;
        tree.users[group][node] = 1;
        if (layout.isSparse(group)) {
            rank[group][node] = PASSED;
        }
    }

    /** Offers a node that nobody holds for eviction, or removes it, and then its parent, when it can end no match. */
    private void settle(int start) {
        int node = start;
        while (node != NONE && tree.isLeaf(node) && tree.locks[node] == 0) {
            if (isComplete(node)) {
                if (!leaves.contains(node)) {
                    leaves.add(node, tree.lastUse[node]);
                }
                return;
            }
            leaves.remove(node);
            int above = tree.parent(node);
            removeNode(node);
            node = above;
        }
    }

    private boolean isComplete(int node) {
        if (tree.isRoot(node)) {
            return false;
        }
        for (int[] pages : tree.page) {
            if (pages[node] == NONE) {
                return false;
            }
        }
        return true;
    }
}
