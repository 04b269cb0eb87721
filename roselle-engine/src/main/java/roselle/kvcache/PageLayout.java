package roselle.kvcache;

import java.util.List;
import roselle.backend.memory.KvGroup;

/**
 * How many pages each KV group has and how many tokens share a page.
 *
 * @param groups the groups of layers, in the decoder's order
 * @param pages the pages of each group's pool
 * @param pageTokens tokens of a page
 */
public record PageLayout(List<KvGroup> groups, List<Integer> pages, int pageTokens) {
    /** Before a step, behind it and behind the step planned ahead: a state and the page being filled; and two marked ones. */
    private static final int MOST_STATES = 8;

    public PageLayout {
        groups = List.copyOf(groups);
        pages = List.copyOf(pages);
        if (groups.isEmpty() || groups.size() != pages.size()) {
            throw new IllegalArgumentException(
                    "a page layout of " + groups.size() + " groups with " + pages.size() + " pools");
        }
        if (pageTokens < 1) {
            throw new IllegalArgumentException("a page of " + pageTokens + " tokens");
        }
        for (int count : pages) {
            if (count < 1) {
                throw new IllegalArgumentException("a pool of " + count + " pages");
            }
        }
    }

    public int groupCount() {
        return groups.size();
    }

    /** Tokens that a query of group {@code group} sees, itself included; 0 where it sees all. */
    int window(int group) {
        return groups.get(group).window();
    }

    /** The first position that the query at {@code position} sees in {@code group}. */
    public int firstSeen(int group, int position) {
        return groups.get(group).firstSeen(position);
    }

    public int poolPages(int group) {
        return pages.get(group);
    }

    /** Pages that hold {@code tokens} tokens. */
    public int pagesFor(int tokens) {
        return tokens / pageTokens + (tokens % pageTokens == 0 ? 0 : 1);
    }

    /** The page of the first position that the query at {@code position} sees in {@code group}. */
    public int firstPageSeen(int group, int position) {
        return groups.get(group).firstPageSeen(position, pageTokens);
    }

    /** Whether pages of {@code group} that lie far enough back are given up. */
    public boolean slides(int group) {
        return groups.get(group).slides();
    }

    /** Whether {@code group} keeps states, and with them the pages alone that somebody may go on from. */
    public boolean isSparse(int group) {
        return groups.get(group).isState();
    }

    /** The first page that a sequence of {@code tokens} tokens keeps for what follows, where a group keeps states. */
    int firstStatePage(int tokens) {
        return Math.max(0, tokens / pageTokens - 1);
    }

    /**
     * Pages of {@code group} that a sequence of {@code tokens} tokens holds at its largest, when no step gives it more than
     * {@code chunkTokens} rows.
     */
    public int peakPages(int group, int tokens, int chunkTokens) {
        int all = pagesFor(tokens);
        if (isSparse(group)) {
            return Math.min(all, MOST_STATES);
        }
        int window = window(group);
        if (window == 0) {
            return all;
        }
        long span = (long) window - 1 + chunkTokens;
        return (int) Math.min(all, span / pageTokens + 2);
    }
}
