package roselle.kvcache;

/**
 * The pages of one KV group, each free, owned by one sequence, or cached by the tree.
 *
 * <p>Free → owned → cached → free, or owned → free: every other change is a bug and throws. Only the owner writes to a page;
 * a cached page is never written again.
 */
final class PagePool {
    private static final byte FREE = 0;
    private static final byte OWNED = 1;
    private static final byte CACHED = 2;

    private final byte[] state; // [pages]
    private final int[] freePages; // a stack; the page freed last is taken first
    private int free;
    private int cached;

    PagePool(int pages) {
        state = new byte[pages];
        freePages = new int[pages];
        for (int page = pages - 1; page >= 0; page--) {
            freePages[free++] = page;
        }
    }

    int total() {
        return state.length;
    }

    int free() {
        return free;
    }

    int cached() {
        return cached;
    }

    int owned() {
        return state.length - free - cached;
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
            default -> "cached";
        };
    }

    /** Compares the counts with the states, and the free pages with both. */
    void checkIntegrity() {
        int freeSeen = 0;
        int cachedSeen = 0;
        for (byte each : state) {
            freeSeen += each == FREE ? 1 : 0;
            cachedSeen += each == CACHED ? 1 : 0;
        }
        if (freeSeen != free || cachedSeen != cached) {
            throw new IllegalStateException("pool counts " + free + " free and " + cached + " cached pages but has "
                    + freeSeen + " and " + cachedSeen);
        }
        for (int i = 0; i < free; i++) {
            if (state[freePages[i]] != FREE) {
                throw new IllegalStateException(
                        "page " + freePages[i] + " waits as free but is " + name(state[freePages[i]]));
            }
        }
    }
}
