package roselle.kvcache;

import static roselle.kvcache.PrefixTree.NONE;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * All pages of keys and values of an engine: found by prefix, handed out, kept for later requests, evicted.
 *
 * <p>A sequence {@link #open opens} its pages with the longest prefix that the tree holds, {@link
 * SequencePages#reserve reserves} room before each step, {@link SequencePages#commit commits} after it and {@link SequencePages#release releases} at its end. Full pages enter
 * the tree at commit, those of generated tokens too, so a preempted sequence finds nearly all of its work again. Where two
 * sequences computed the same page, the later one adopts the earlier one's, which holds the same bits.
 *
 * <p>A prefix ends in the middle of a page when the next page of the tree begins alike: its tokens are had by copying that
 * page (copy-on-write, ordered by {@link SequencePages#needsCopy}); the source is kept until the copier's first commit.
 * With sliding windows a match may end only where every page inside each window at that point is still cached.
 *
 * <p>A group of states keeps few of its pages: that of the last full page and the one being filled, where the next step goes on
 * from; what steps of a prompt ended on; and two that are marked when a sequence opens, the end of its prompt and the point where
 * it leaves what earlier sequences computed. A match ends only where there is a state.
 *
 * <p>One thread uses it. It holds page numbers, never their memory.
 */
public final class PageCache {
    /** Tree nodes for each page of the largest pool: nodes on the way whose window pages are gone count too. */
    private static final int NODES_PER_PAGE = 2;

    private final PageLayout layout;
    private final PagePool[] pools;
    private final CachedPages cached;
    private final PrefixTree tree;
    private final PrefixMatch match;
    private final int[] runStart; // [groups] where the unbroken run of pages that ends here begins
    private @Nullable SequencePages open; // the first of all open ones
    private long version;

    /** {@code hashSeed} keeps strangers from choosing prefixes that collide; any number will do. */
    public PageCache(PageLayout layout, long hashSeed) {
        this.layout = layout;
        int groups = layout.groupCount();
        pools = new PagePool[groups];
        int most = 0;
        for (int group = 0; group < groups; group++) {
            pools[group] = new PagePool(layout.poolPages(group));
            most = Math.max(most, layout.poolPages(group));
        }
        tree = new PrefixTree(groups, Math.multiplyExact(most, NODES_PER_PAGE) + 64, layout.pageTokens(), hashSeed);
        cached = new CachedPages(layout, pools, tree);
        match = new PrefixMatch(groups, layout.pageTokens());
        runStart = new int[groups];
    }

    /**
     * Tells of pages that can be found, and of those that cannot any more, from now on; {@code capacity} events may wait for
     * their reader. Any thread may call it; whoever read before hears nothing more.
     */
    public PageEvents events(int capacity) {
        var events = new PageEvents(capacity, layout.pageTokens());
        tree.tell(events);
        return events;
    }

    public PageLayout layout() {
        return layout;
    }

    /** Pages of {@code group} that can be had now: free ones and cached ones that no sequence uses. */
    public int available(int group) {
        return cached.available(group);
    }

    /** Pages of {@code group} that nobody holds, the tree neither. */
    public int free(int group) {
        return pools[group].free();
    }

    public PageCounts counts(int group) {
        PagePool pool = pools[group];
        return new PageCounts(
                pool.total(), pool.free(), pool.cached(), pool.owned(), cached.available(group), pool.lent());
    }

    /** Pages of {@code group} that can be used: those of its layout, but for those that are lent. */
    public int total(int group) {
        return pools[group].total();
    }

    /**
     * Brings a pool nearer to so many pages: up to that at once, down as far as pages are free or can be evicted; those that
     * sequences hold follow in later calls. Nothing may be planned that has not been committed, but for steps under way.
     *
     * @return the pages that were lent, or that came back, ascending
     */
    public int[] resize(int group, int pages) {
        PagePool pool = pools[group];
        int wanted = Math.clamp(pages, 0, pool.capacity());
        if (wanted >= pool.total()) {
            return pool.takeBack(wanted - pool.total());
        }
        int lendable = Math.min(pool.total() - wanted, cached.available(group));
        if (lendable > 0) {
            changed();
            cached.makeFree(group, lendable);
        }
        return pool.lend(lendable);
    }

    /**
     * Finds the longest usable prefix of {@code ids[0 .. limit)}. The limit is at most one less than the tokens known: the
     * last of them is always computed, so that there are logits. The result is reused by the next call.
     */
    public PrefixMatch match(PrefixScope scope, int[] ids, int limit) {
        match.version = version;
        match.scope = scope;
        match.root = tree.root(scope);
        match.depth = 0;
        match.walked = 0;
        match.partialNode = NONE;
        match.partialTokens = 0;
        if (match.root != NONE) {
            walk(ids, limit);
        }
        countPinned();
        return match;
    }

    private void walk(int[] ids, int limit) {
        int pageTokens = layout.pageTokens();
        Arrays.fill(runStart, 0);
        int node = match.root;
        int depth = 0;
        while ((depth + 1) * pageTokens <= limit) {
            int child = tree.child(node, ids, depth * pageTokens);
            if (child == NONE) {
                break;
            }
            remember(child, depth);
            depth++;
            extendRuns(child, depth);
            node = child;
            if (windowsReach(depth * pageTokens)) {
                match.depth = depth;
            }
        }
        match.walked = depth;
        if (match.depth == depth && limit > depth * pageTokens) {
            matchPart(node, ids, depth * pageTokens, limit);
        }
    }

    private void remember(int node, int depth) {
        if (depth == match.path.length) {
            match.path = Arrays.copyOf(match.path, 2 * depth);
        }
        match.path[depth] = node;
    }

    private void extendRuns(int node, int depth) {
        for (int group = 0; group < runStart.length; group++) {
            if (tree.page[group][node] == NONE) {
                runStart[group] = depth;
            }
        }
    }

    private boolean windowsReach(int position) {
        for (int group = 0; group < runStart.length; group++) {
            if (layout.firstPageSeen(group, position) < runStart[group]) {
                return false;
            }
        }
        return true;
    }

    private void matchPart(int node, int[] ids, int offset, int limit) {
        int closest = tree.closestChild(node, ids, offset, limit - offset);
        if (closest == NONE) {
            return;
        }
        for (int group = 0; group < runStart.length; group++) {
            if (tree.page[group][closest] == NONE) {
                return;
            }
        }
        match.partialNode = closest;
        match.partialTokens = tree.commonTokens(closest, ids, offset, limit - offset);
    }

    private void countPinned() {
        for (int group = 0; group < pools.length; group++) {
            int count = 0;
            int[] users = tree.users[group];
            for (int index = layout.firstPageSeen(group, match.tokens()); index < match.depth; index++) {
                count += users[match.path[index]] == 0 ? 1 : 0;
            }
            boolean sourceIsIdle = match.partialNode != NONE && users[match.partialNode] == 0;
            match.pinned[group] = count + (sourceIsIdle ? 1 : 0);
        }
    }

    /** Drops the partial page of a match, for when there is no page to copy it to. */
    private void dropPart() {
        match.partialNode = NONE;
        match.partialTokens = 0;
        countPinned();
    }

    /**
     * Opens the pages of a sequence of {@code maxTokens} tokens at most, beginning with what {@code found} found; {@link
     * PrefixMatch#tokens} then says how many tokens are cached (a partial page is given up when no page is left to copy it
     * to).
     */
    public SequencePages open(PrefixMatch found, int maxTokens) {
        return open(found, maxTokens, 0);
    }

    /** The same; the state behind the last full page that ends before the last of {@code promptTokens} is kept for others. */
    public SequencePages open(PrefixMatch found, int maxTokens, int promptTokens) {
        if (found != match || found.version != version) {
            throw new IllegalStateException("the cache changed since this prefix was matched");
        }
        if (!hasRootFor(found)) {
            throw new IllegalStateException("every node of the prefix tree is in use, no root for a scope is left");
        }
        int root = found.root == NONE ? tree.addRoot(found.scope) : found.root;
        if (found.partialNode != NONE && !canCopy()) {
            dropPart();
        }
        changed();
        var pages = new SequencePages(this, pools.length, layout.pagesFor(maxTokens), root);
        pages.computed = match.tokens();
        pages.promptState = (promptTokens - 1) / layout.pageTokens() - 1;
        pages.forkState = match.walked > match.depth ? match.walked - 1 : NONE;
        link(pages);
        share(pages);
        if (found.partialNode != NONE) {
            beginCopy(pages);
        }
        return pages;
    }

    /** Whether the tree has a node for the scope of a match, or can have one; where nobody runs it always can. */
    public boolean hasRootFor(PrefixMatch found) {
        while (found.root == NONE && tree.isFull()) {
            if (!cached.evictLeaf()) {
                return false;
            }
        }
        return true;
    }

    private boolean canCopy() {
        for (int group = 0; group < pools.length; group++) {
            if (cached.available(group) - match.pinned[group] < 1) {
                return false;
            }
        }
        return true;
    }

    private void share(SequencePages pages) {
        pages.depth = match.depth;
        pages.pageCount = match.depth;
        System.arraycopy(match.path, 0, pages.path, 0, match.depth);
        if (match.depth > 0) {
            pages.tip = match.path[match.depth - 1];
        }
        cached.lock(pages.tip);
        for (int group = 0; group < pools.length; group++) {
            int first = Math.min(layout.firstPageSeen(group, match.tokens()), match.depth);
            pages.firstKept[group] = first;
            for (int index = first; index < match.depth; index++) {
                int node = pages.path[index];
                cached.retain(group, node);
                pages.table[group][index] = tree.page[group][node];
            }
        }
    }

    private void beginCopy(SequencePages pages) {
        int source = match.partialNode;
        cached.lock(source);
        for (int group = 0; group < pools.length; group++) {
            cached.retain(group, source);
            pages.copyFrom[group] = tree.page[group][source];
        }
        pages.copySource = source;
        reserve(pages, match.tokens(), match.tokens());
    }

    private void endCopy(SequencePages pages) {
        int source = pages.copySource;
        if (source == NONE) {
            return;
        }
        pages.copySource = NONE;
        for (int group = 0; group < pools.length; group++) {
            cached.release(group, source);
        }
        cached.unlock(source);
    }

    int reserve(SequencePages pages, int tokens, int certain) {
        pages.requireOpen();
        dropStatesBehind(pages, tokens);
        int pageCount = Math.max(pages.pageCount, layout.pagesFor(tokens));
        for (int group = 0; group < pools.length; group++) {
            if (!layout.isSparse(group)) {
                pageCount = Math.min(pageCount, pages.pageCount + cached.available(group));
            }
        }
        int fitting = Math.min(tokens, pageCount * layout.pageTokens());
        int firstState = layout.firstStatePage(Math.min(fitting, certain));
        if (!hasRoomForStates(pages, firstState, fitting, pageCount)) {
            return tokensWithStates(pages, tokens, certain);
        }
        for (int group = 0; group < pools.length; group++) {
            int end = lastWanted(group, fitting, pageCount);
            for (int index = firstMissing(pages, group, firstState); index < end; index++) {
                if (pages.table[group][index] == NONE && isWanted(pages, group, index, firstState)) {
                    changed();
                    pages.table[group][index] = cached.take(group);
                }
            }
        }
        pages.pageCount = pageCount;
        return fitting;
    }

    /** Gives back pages of states that were reserved for a longer step, which did not come to be. */
    private void dropStatesBehind(SequencePages pages, int tokens) {
        for (int group = 0; group < pools.length; group++) {
            int first = Math.max(pages.depth, layout.pagesFor(tokens));
            for (int index = first; layout.isSparse(group) && index < pages.pageCount; index++) {
                if (!pages.isMarked(index)) {
                    drop(pages, group, index);
                }
            }
        }
    }

    /** Where pages may have to be taken from on. */
    private int firstMissing(SequencePages pages, int group, int firstState) {
        return layout.isSparse(group) ? Math.max(pages.depth, Math.min(pages.pageCount, firstState)) : pages.pageCount;
    }

    private int lastWanted(int group, int tokens, int pageCount) {
        return layout.isSparse(group) ? Math.min(pageCount, layout.pagesFor(tokens)) : pageCount;
    }

    /** Whether a page is needed where a sequence goes on from page {@code firstState} or later. */
    private boolean isWanted(SequencePages pages, int group, int index, int firstState) {
        return !layout.isSparse(group) || index >= firstState || (pages.isMarked(index) && index >= pages.pageCount);
    }

    private boolean hasRoomForStates(SequencePages pages, int firstState, int fitting, int pageCount) {
        for (int group = 0; group < pools.length; group++) {
            int missing = 0;
            int end = layout.isSparse(group) ? lastWanted(group, fitting, pageCount) : 0;
            for (int index = firstMissing(pages, group, firstState); index < end; index++) {
                missing += pages.table[group][index] == NONE && isWanted(pages, group, index, firstState) ? 1 : 0;
            }
            if (missing > cached.available(group)) {
                return false;
            }
        }
        return true;
    }

    /** Tokens, of those asked for, that fit without a further page. */
    private int tokensWithStates(SequencePages pages, int asked, int certain) {
        int tokens = Math.min(asked, pages.pageCount * layout.pageTokens());
        while (tokens > pages.computed && hasGap(pages, tokens, certain)) {
            tokens--;
        }
        return Math.max(tokens, pages.computed);
    }

    private boolean hasGap(SequencePages pages, int tokens, int certain) {
        for (int group = 0; group < pools.length; group++) {
            for (int index = Math.max(pages.firstKept[group], layout.firstStatePage(Math.min(tokens, certain)));
                    layout.isSparse(group) && index < layout.pagesFor(tokens);
                    index++) {
                if (pages.table[group][index] == NONE) {
                    return true;
                }
            }
        }
        return false;
    }

    void commit(SequencePages pages, int[] ids, int computed) {
        pages.requireOpen();
        changed();
        endCopy(pages);
        pages.computed = computed;
        boolean inserted = true;
        while (inserted && (pages.depth + 1) * layout.pageTokens() <= computed) {
            inserted = insert(pages, ids);
        }
        slide(pages, computed);
    }

    /** Gives the first owned page to the tree; false when the tree has no node left for it. */
    private boolean insert(SequencePages pages, int[] ids) {
        int index = pages.depth;
        int offset = index * layout.pageTokens();
        int node = tree.child(pages.tip, ids, offset);
        if (node == NONE) {
            if (tree.isFull() && !cached.evictLeaf()) {
                return false;
            }
            node = tree.addChild(pages.tip, ids, offset);
        }
        cached.lock(node);
        for (int group = 0; group < pools.length; group++) {
            pages.table[group][index] = merge(group, node, pages.table[group][index]);
        }
        cached.unlock(pages.tip);
        pages.path[index] = node;
        pages.tip = node;
        pages.depth++;
        return true;
    }

    /** Makes the caller a user of the node's page, giving it {@code page} where it has none; returns the page to use. */
    private int merge(int group, int node, int page) {
        int present = tree.page[group][node];
        if (page == NONE) {
            return NONE;
        }
        if (present == NONE) {
            cached.donate(group, node, page);
            return page;
        }
        cached.retain(group, node);
        pools[group].giveBack(page);
        return present;
    }

    private void slide(SequencePages pages, int computed) {
        for (int group = 0; group < pools.length; group++) {
            int first = Math.min(layout.firstPageSeen(group, computed), pages.pageCount);
            for (int index = pages.firstKept[group]; index < first; index++) {
                if (isPassing(pages, group, index)) {
                    cached.discard(group, pages.path[index]);
                    pages.table[group][index] = NONE;
                } else {
                    drop(pages, group, index);
                }
            }
            pages.firstKept[group] = Math.max(first, pages.firstKept[group]);
        }
    }

    /** Whether a state was of use to this sequence alone: of those behind generated tokens only the last is kept for others. */
    private boolean isPassing(SequencePages pages, int group, int index) {
        return layout.isSparse(group)
                && index < pages.depth
                && index > pages.promptState
                && index != pages.forkState
                && pages.table[group][index] != NONE;
    }

    private void drop(SequencePages pages, int group, int index) {
        drop(pages, group, index, pages.isMarked(index));
    }

    /** Gives up a page; {@code isLikely} where it is a state that others are likely to go on from. */
    private void drop(SequencePages pages, int group, int index, boolean isLikely) {
        if (pages.table[group][index] == NONE) {
            return;
        }
        if (index < pages.depth && layout.isSparse(group) && isLikely) {
            cached.releaseLikely(group, pages.path[index], index == pages.promptState);
        } else if (index < pages.depth) {
            cached.release(group, pages.path[index]);
        } else {
            pools[group].giveBack(pages.table[group][index]);
        }
        pages.table[group][index] = NONE;
    }

    void release(SequencePages pages) {
        pages.requireOpen();
        changed();
        endCopy(pages);
        for (int group = 0; group < pools.length; group++) {
            for (int index = pages.firstKept[group]; index < pages.pageCount; index++) {
                drop(pages, group, index, true);
            }
        }
        cached.unlock(pages.tip);
        unlink(pages);
        pages.markReleased();
    }

    CachedPages cached() {
        return cached;
    }

    PagePool pool(int group) {
        return pools[group];
    }

    private void changed() {
        version++;
        cached.tick();
    }

    private void link(SequencePages pages) {
        pages.next = open;
        if (open != null) {
            open.previous = pages;
        }
        open = pages;
    }

    private void unlink(SequencePages pages) {
        SequencePages next = pages.next;
        SequencePages previous = pages.previous;
        if (next != null) {
            next.previous = previous;
        }
        if (previous != null) {
            previous.next = next;
        } else {
            open = next;
        }
    }

    /** Counts every page, user and lock again from scratch and throws where one differs; for tests and idle moments. */
    public void checkIntegrity() {
        new CacheAudit(layout, pools, cached).check(open);
    }
}
