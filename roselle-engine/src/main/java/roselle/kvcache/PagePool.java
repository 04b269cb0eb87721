package roselle.kvcache;

import java.util.Arrays;

/**
 * The pages of one KV group, each free, owned by one sequence, cached by the tree, or lent: its memory is somebody else's.
 *
 * <p>Free → owned → cached → free, owned → free, or free → lent → free: every other change is a bug and throws. Only the owner
 * writes to a page; a cached page is never written again.
 */
final class PagePool {
    private static final byte FREE = 0;
    private static final byte OWNED = 1;
    private static final byte CACHED = 2;
    private static final byte LENT = 3;

    private final byte[] state; // [pages]
    private final int[] freePages; // a stack; the page freed last is taken first
    private int free;
    private int cached;
    private int lent;

    PagePool(int pages) {
        state = new byte[pages];
        freePages = new int[pages];
        for (int page = pages - 1; page >= 0; page--) {
            freePages[free++] = page;
        }
    }

    /** Pages that can be used: all that there are, but for those that are lent. */
    int total() {
        return state.length - lent;
    }

    /** Pages that there are, those that are lent among them. */
    int capacity() {
        return state.length;
    }

    int lent() {
        return lent;
    }

    int free() {
        return free;
    }

    int cached() {
        return cached;
    }

    int owned() {
        return total() - free - cached;
    }

    boolean isOwned(int page) {
        return state[page] == OWNED;
    }

    boolean isCached(int page) {
        return state[page] == CACHED;
    }

    /** Hands out a free page; there must be one. */
    int take() {
        if (free == 0) {
            throw new IllegalStateException("no free page to take of " + state.length);
        }
        int page = freePages[--free];
        change(page, FREE, OWNED);
        return page;
    }

    /** Ends an owner's use of a page that nobody else may see. */
    void giveBack(int page) {
        change(page, OWNED, FREE);
        freePages[free++] = page;
    }

    /** Makes an owner's page, now full, the tree's. */
    void cache(int page) {
        change(page, OWNED, CACHED);
        cached++;
    }

    /** Frees a page of the tree. */
    void evict(int page) {
        change(page, CACHED, FREE);
        cached--;
        freePages[free++] = page;
    }

    /** Lends free pages, those of the highest numbers: what stays lies together. Returns them, ascending. */
    int[] lend(int count) {
        if (count > free) {
            throw new IllegalStateException("of " + free + " free pages " + count + " cannot be lent");
        }
        Arrays.sort(freePages, 0, free);
        free -= count;
        int[] pages = Arrays.copyOfRange(freePages, free, free + count);
        for (int page : pages) {
            change(page, FREE, LENT);
        }
        lent += count;
        for (int low = 0, high = free - 1; low < high; low++, high--) { // the lowest is taken first
            int page = freePages[low];
            freePages[low] = freePages[high];
            freePages[high] = page;
        }
        return pages;
    }

    /** Has lent pages back, those of the lowest numbers; returns them, ascending. */
    int[] takeBack(int count) {
        if (count > lent) {
            throw new IllegalStateException("of " + lent + " lent pages " + count + " cannot be had back");
        }
        int[] pages = new int[count];
        int found = 0;
        for (int page = 0; found < count; page++) {
            if (state[page] == LENT) {
                pages[found++] = page;
            }
        }
        for (int index = count - 1; index >= 0; index--) {
            change(pages[index], LENT, FREE);
            freePages[free++] = pages[index];
        }
        lent -= count;
        return pages;
    }

    private void change(int page, byte from, byte to) {
        if (state[page] != from) {
            throw new IllegalStateException("page " + page + " is " + name(state[page]) + ", not " + name(from)
                    + ": it cannot become " + name(to));
        }
        state[page] = to;
    }

    private static String name(byte state) {
        return switch (state) {
            case FREE -> "free";
            case OWNED -> "owned";
            case LENT -> "lent";
            default -> "cached";
        };
    }

    /** Compares the counts with the states, and the free pages with both. */
    void checkIntegrity() {
        int freeSeen = 0;
        int cachedSeen = 0;
        int lentSeen = 0;
        for (byte each : state) {
            freeSeen += each == FREE ? 1 : 0;
            cachedSeen += each == CACHED ? 1 : 0;
            lentSeen += each == LENT ? 1 : 0;
        }
        if (freeSeen != free || cachedSeen != cached || lentSeen != lent) {
            throw new IllegalStateException("pool counts " + free + " free, " + cached + " cached and " + lent
                    + " lent pages but has " + freeSeen + ", " + cachedSeen + " and " + lentSeen);
        }
        for (int i = 0; i < free; i++) {
            if (state[freePages[i]] != FREE) {
                throw new IllegalStateException(
                        "page " + freePages[i] + " waits as free but is " + name(state[freePages[i]]));
            }
        }
    }
}
