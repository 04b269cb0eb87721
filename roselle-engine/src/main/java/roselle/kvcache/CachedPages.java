package roselle.kvcache;

import static roselle.kvcache.PrefixTree.NONE;

/**
 * The prefix tree together with the pools its pages come from: who uses a page, and which is evicted next.
 *
 * <p>Two kinds of pages are evicted differently. A page of a group that sees everything is of use only with all pages before
 * it, so only leaves go, the one used longest ago first. A page of a sliding-window group is of use only near the end of a
 * match, so any page that no sequence uses may go, and its node stays as the path to deeper ones. A leaf nobody stands on
 * that lacks a page of any group can end no match; it is removed at once, and so may its parent be. Hence a page without
 * users is always within reach of eviction, and {@link #available} is exact. States are evicted like pages of a window.
 */
final class CachedPages {
    private final PageLayout layout;
    private final PagePool[] pools;
    private final LastUseHeap leaves; // leaves without locks
    private final LastUseHeap[] behind; // [groups] nodes whose window page has no users; empty for other groups
    private final int[] withoutUsers; // [groups] cached pages without users
    private long time;

    final PrefixTree tree;

    CachedPages(PageLayout layout, PagePool[] pools, PrefixTree tree) {
        this.layout = layout;
        this.pools = pools;
        this.tree = tree;
        leaves = new LastUseHeap(tree.capacity());
        behind = new LastUseHeap[pools.length];
        for (int group = 0; group < pools.length; group++) {
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
        int node = behind[group].removeOldest();
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
                behind[group].add(node, time);
            }
        }
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
