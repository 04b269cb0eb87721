package roselle.kvcache;

import static roselle.kvcache.PrefixTree.NONE;

import org.jspecify.annotations.Nullable;

/** A recount of a cache from scratch: each page has one place, each count equals what it counts. */
final class CacheAudit {
    private final PageLayout layout;
    private final PagePool[] pools;
    private final CachedPages cached;
    private final PrefixTree tree;
    private final int[][] users; // [groups][nodes]
    private final int[] locks; // [nodes]
    private final boolean[][] seen; // [groups][pages] in the tree or owned

    CacheAudit(PageLayout layout, PagePool[] pools, CachedPages cached) {
        this.layout = layout;
        this.pools = pools;
        this.cached = cached;
        tree = cached.tree;
        users = new int[pools.length][tree.capacity()];
        locks = new int[tree.capacity()];
        seen = new boolean[pools.length][];
        for (int group = 0; group < pools.length; group++) {
            seen[group] = new boolean[pools[group].capacity()];
        }
    }

    void check(@Nullable SequencePages firstOpen) {
        for (var pages = firstOpen; pages != null; pages = pages.next) {
            countSequence(pages);
        }
        int nodes = 0;
        for (int root : tree.roots()) {
            nodes += checkSubtree(root);
        }
        require(nodes == tree.size(), "the tree counts %d nodes but has %d", tree.size(), nodes);
        for (int group = 0; group < pools.length; group++) {
            pools[group].checkIntegrity();
            checkSeen(group);
        }
    }

    private void countSequence(SequencePages pages) {
        require(!pages.isReleased(), "released pages are still listed as open", 0, 0);
        locks[pages.tip]++;
        if (pages.needsCopy()) {
            locks[pages.copySource]++;
        }
        for (int group = 0; group < pools.length; group++) {
            if (pages.needsCopy()) {
                users[group][pages.copySource]++;
            }
            for (int index = 0; index < pages.pageCount; index++) {
                countEntry(pages, group, index);
            }
        }
    }

    private void countEntry(SequencePages pages, int group, int index) {
        int page = pages.table[group][index];
        boolean mayLack = layout.isSparse(group) && !isNeeded(pages, index);
        boolean isMissing = index < pages.firstKept[group] || (mayLack && page == NONE);
        require((page == NONE) == isMissing, "entry %d of a table is page %d", index, page);
        if (page == NONE) {
            return;
        }
        if (index < pages.depth) {
            int node = pages.path[index];
            users[group][node]++;
            require(
                    tree.page[group][node] == page,
                    "a shared page is %d, its node has %d",
                    page,
                    tree.page[group][node]);
        } else {
            require(pools[group].isOwned(page), "page %d of group %d has an owner but is not owned", page, group);
            see(group, page);
        }
    }

    /** Whether a sequence goes on from the state behind a page, or from its rows. */
    private boolean isNeeded(SequencePages pages, int index) {
        int end = layout.pagesFor(pages.computed);
        return index >= layout.firstStatePage(pages.computed) && index < end;
    }

    private void see(int group, int page) {
        require(!seen[group][page], "page %d of group %d is in two places", page, group);
        seen[group][page] = true;
    }

    private int checkSubtree(int node) {
        int nodes = 1;
        boolean isComplete = !tree.isRoot(node);
        for (int group = 0; group < pools.length; group++) {
            isComplete &= tree.page[group][node] != NONE;
            checkPage(node, group);
        }
        require(locks[node] == tree.locks[node], "a node has %d locks but counts %d", locks[node], tree.locks[node]);
        boolean isIdleLeaf = tree.isLeaf(node) && locks[node] == 0;
        require(!isIdleLeaf || isComplete, "leaf %d has nobody and can end no match", node, 0);
        require(isIdleLeaf == cached.isEvictableLeaf(node), "node %d waits wrongly for eviction", node, 0);
        for (int child = tree.firstChild(node); child != NONE; child = tree.nextSibling(child)) {
            require(tree.parent(child) == node, "node %d is a child of another than %d", child, node);
            nodes += checkSubtree(child);
        }
        return nodes;
    }

    private void checkPage(int node, int group) {
        int page = tree.page[group][node];
        int counted = tree.users[group][node];
        require(users[group][node] == counted, "a page has %d users but counts %d", users[group][node], counted);
        require(
                layout.slides(group) || page != NONE || tree.isRoot(node),
                "node %d lost a page that sees all",
                node,
                0);
        if (page != NONE) {
            require(pools[group].isCached(page), "page %d of group %d is in the tree but not cached", page, group);
            see(group, page);
        }
        boolean isIdle = page != NONE && counted == 0 && layout.slides(group);
        require(isIdle == cached.isEvictablePage(group, node), "page %d waits wrongly for eviction", page, 0);
    }

    private void checkSeen(int group) {
        int used = 0;
        int idle = 0;
        for (boolean each : seen[group]) {
            used += each ? 1 : 0;
        }
        for (int node = 0; node < tree.capacity(); node++) {
            idle += tree.page[group][node] != NONE && tree.users[group][node] == 0 ? 1 : 0;
        }
        require(
                used + pools[group].free() == pools[group].total(),
                "%d pages are somewhere and %d free: not all",
                used,
                pools[group].free());
        require(
                idle == cached.withoutUsers(group),
                "%d pages have no users but %d are counted",
                idle,
                cached.withoutUsers(group));
    }

    private static void require(boolean holds, String message, int first, int second) {
        if (!holds) {
            throw new IllegalStateException(String.format(java.util.Locale.ROOT, message, first, second));
        }
    }
}
