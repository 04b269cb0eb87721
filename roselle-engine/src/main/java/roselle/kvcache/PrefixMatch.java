package roselle.kvcache;

/**
 * The longest usable prefix of a sequence that the cache holds, as found by {@link PageCache#match}.
 *
 * <p>It takes no pages: the next change of the cache makes it void, and opening it then throws.
 */
public final class PrefixMatch {
    int[] path = new int[64]; // the matched nodes, one a page
    int depth; // matched full pages
    int walked; // full pages that the tree has, though states or windows may be gone
    int root = PrefixTree.NONE;
    int partialNode = PrefixTree.NONE;
    int partialTokens;
    long version = -1;
    PrefixScope scope = PrefixScope.SHARED;
    final int[] pinned; // [groups] pages without users that this match would take into use
    private final int pageTokens;

    PrefixMatch(int groups, int pageTokens) {
        pinned = new int[groups];
        this.pageTokens = pageTokens;
    }

    /** Tokens whose keys and values need no computation. */
    public int tokens() {
        return depth * pageTokens + partialTokens;
    }

    /** Pages that would be shared. */
    public int sharedPages() {
        return depth;
    }

    /** Pages of {@code group} that are available now and would not be after opening this match, copies not counted. */
    public int pinnedPages(int group) {
        return pinned[group];
    }
}
