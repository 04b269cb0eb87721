package roselle.scheduler;

import java.util.Arrays;
import roselle.kvcache.PageLayout;

/**
 * Memory of keys and values that remembers, instead of numbers, which prefix was computed into each place.
 *
 * <p>A key depends on all tokens before it, so the entry of a position is the hash of the whole prefix up to it, salt
 * included: reading any other entry is reading another sequence's memory, a stale page or a copy gone wrong.
 */
final class SimulatedKv {
    static final long EMPTY = 0;

    private final long[][] entries; // [groups][pages * pageTokens]
    private final long[][] states; // [groups][pages] what led to the state behind a page
    private final int pageTokens;

    SimulatedKv(PageLayout layout) {
        pageTokens = layout.pageTokens();
        entries = new long[layout.groupCount()][];
        states = new long[layout.groupCount()][];
        for (int group = 0; group < entries.length; group++) {
            entries[group] = new long[layout.poolPages(group) * pageTokens];
            Arrays.fill(entries[group], EMPTY);
            states[group] = new long[layout.poolPages(group)];
        }
    }

    void copyPage(int group, int from, int to) {
        System.arraycopy(entries[group], from * pageTokens, entries[group], to * pageTokens, pageTokens);
        states[group][to] = states[group][from];
    }

    void write(int group, int page, int position, long prefix) {
        entries[group][page * pageTokens + position % pageTokens] = prefix;
    }

    long read(int group, int page, int position) {
        return entries[group][page * pageTokens + position % pageTokens];
    }

    void writeState(int group, int page, long prefix) {
        states[group][page] = prefix;
    }

    long state(int group, int page) {
        return states[group][page];
    }

    /** What pages hold is gone: their memory was given back. */
    void lose(int group, int[] pages) {
        for (int page : pages) {
            Arrays.fill(entries[group], page * pageTokens, (page + 1) * pageTokens, EMPTY);
            states[group][page] = EMPTY;
        }
    }

    static long mix(long prefix, long next) {
        long mixed = (prefix ^ (next + 0x9E3779B97F4A7C15L)) * 0xBF58476D1CE4E5B9L;
        mixed ^= mixed >>> 27;
        mixed *= 0x94D049BB133111EBL;
        mixed ^= mixed >>> 31;
        return mixed == EMPTY ? 1 : mixed;
    }
}
