package roselle.kvcache;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The pages of one running sequence: a table for each KV group, from {@link PageCache#open} until {@link #release}.
 *
 * <p>The first {@link #sharedPages} entries of a table are pages of the prefix tree, read by anyone and written by none; the
 * others are owned by this sequence alone. An entry of −1 lies behind a sliding window, or is a state that nobody goes on from.
 * Only the cache changes it.
 */
public final class SequencePages {
    private static final int RELEASED = -2;

    final PageCache cache;
    final int[][] table; // [groups][pages]
    final int[] firstKept; // [groups] entries before it are −1
    final int[] path; // [pages] the tree's node of each shared page
    int depth; // shared pages
    int pageCount;
    int computed; // tokens whose rows are in the pages
    /** The last page whose state another request with this prompt could go on from. */
    int promptState = PrefixTree.NONE;

    /** The page at which earlier sequences left this one's beginning, where that has no state yet. */
    int forkState = PrefixTree.NONE;

    int tip; // the node stood on
    int copySource = PrefixTree.NONE; // the node whose page is to be copied into the first owned page
    final int[] copyFrom; // [groups] its pages, which stay valid even if the node goes

    @Nullable
    SequencePages next; // all open ones, for checks

    @Nullable
    SequencePages previous;

    SequencePages(PageCache cache, int groups, int capacity, int root) {
        this.cache = cache;
        table = new int[groups][capacity];
        for (int[] entries : table) {
            Arrays.fill(entries, -1);
        }
        firstKept = new int[groups];
        path = new int[capacity];
        copyFrom = new int[groups];
        tip = root;
    }

    /** Pages that positions so far have in each table. */
    public int pageCount() {
        return pageCount;
    }

    /** The leading pages that belong to the tree. */
    public int sharedPages() {
        return depth;
    }

    /** The page of table entry {@code index}, −1 behind a window and where no state is kept. */
    public int page(int group, int index) {
        return table[group][index];
    }

    /** Pages of {@code group} that this sequence keeps, shared or owned. */
    public int keptPages(int group) {
        if (!cache.layout().isSparse(group)) {
            return pageCount - firstKept[group];
        }
        int kept = 0;
        for (int index = firstKept[group]; index < pageCount; index++) {
            kept += table[group][index] == PrefixTree.NONE ? 0 : 1;
        }
        return kept;
    }

    /** Whether a state behind a page is to be had later: where the prompt ends, and where another sequence forked off. */
    boolean isMarked(int index) {
        return index == promptState || index == forkState;
    }

    /** Writes a group's whole table to {@code target} from {@code offset} on. */
    public void copyTable(int group, int[] target, int offset) {
        System.arraycopy(table[group], 0, target, offset, pageCount);
    }

    /**
     * Whether the next step must begin by copying, in every group, page {@link #copySource} to page {@link #copyTarget}: the
     * first owned page continues a page of the tree that differs further on.
     */
    public boolean needsCopy() {
        return copySource != PrefixTree.NONE;
    }

    public int copySource(int group) {
        return copyFrom[group];
    }

    public int copyTarget(int group) {
        return table[group][depth];
    }

    public boolean isReleased() {
        return tip == RELEASED;
    }

    /** Takes pages until positions before {@code tokens} have theirs, or as far as pages are left; returns how many tokens fit. */
    public int reserve(int tokens) {
        return cache.reserve(this, tokens, tokens);
    }

    /** The same where tokens from {@code certain} on may turn out to be wrong, so that the sequence goes on before them. */
    public int reserve(int tokens, int certain) {
        return cache.reserve(this, tokens, Math.min(tokens, certain));
    }

    /**
     * Says that the keys and values of {@code ids[0 .. computed)} are in their pages: full pages enter the tree, and pages
     * behind a window are given up.
     */
    public void commit(int[] ids, int computed) {
        cache.commit(this, ids, computed);
    }

    /** Gives every page back: owned ones are free, shared ones lose a user. Releasing twice is an error. */
    public void release() {
        cache.release(this);
    }

    void markReleased() {
        tip = RELEASED;
        pageCount = 0;
        depth = 0;
    }

    void requireOpen() {
        if (isReleased()) {
            throw new IllegalStateException("these pages are released already");
        }
    }
}
