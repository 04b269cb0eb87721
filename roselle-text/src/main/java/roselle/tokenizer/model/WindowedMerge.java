package roselle.tokenizer.model;

import java.util.function.IntConsumer;

/**
 * The merges of a piece of any length, window by window, so that all work stays in the processor's caches; the same
 * tokens as of the piece at once.
 *
 * <p>Why windows can be joined exactly: a merge looks at nothing but two neighbours, and the order of merges is the same
 * in a part as in the whole. So a place that no merge crosses parts a text into two that know nothing of each other. Let
 * {@code u} be the last token of a text A and {@code v} the first of a text B. Until something merges across the place
 * where A and B meet, {@code u} and {@code v} grow in AB as they do alone, so something merges there in AB if and only if
 * it does when {@code uv} is merged alone. If not, the tokens of AB are those of A and those of B. If so, the last tokens
 * of A and the first of B are merged anew, twice as many each time, until the first and the last of the new tokens are
 * the old ones: between old and new tokens the places are then the same as inside A and B, which no merge crosses.
 *
 * <p>Cost: O(n log n) for any vocabulary. The right side of a join ends with its window. What the left side had to reach
 * back is the least size of the next window, so that the sum of both is in proportion to the text.
 */
final class WindowedMerge {
    /** The symbols of a window: with their queue they fill half of a first-level cache. */
    static final int WINDOW = 1024;

    private final IdBuffer symbols;
    private final SymbolMerger merger;
    private final Tokens done;
    private final Tokens window = new Tokens(WINDOW);
    private final Tokens seam = new Tokens(16);

    /** Merged symbols, and where each begins in the piece. */
    private record Tokens(IdBuffer merged, IdBuffer starts) {
        Tokens(int expected) {
            this(new IdBuffer(expected), new IdBuffer(expected));
        }

        int size() {
            return merged.size();
        }

        void truncate(int size) {
            merged.truncate(size);
            starts.truncate(size);
        }

        void add(Tokens others, int from) {
            for (int i = from; i < others.size(); i++) {
                merged.add(others.merged.id(i));
                starts.add(others.starts.id(i));
            }
        }
    }

    private WindowedMerge(IdBuffer symbols, SymbolMerger merger) {
        this.symbols = symbols;
        this.merger = merger;
        done = new Tokens(symbols.size() / 2);
    }

    /** The tokens of a piece, merged by {@code window} symbols at a time; {@code during} hears how many symbols are done. */
    static IdBuffer merge(IdBuffer symbols, SymbolMerger merger, int window, IntConsumer during) {
        var merge = new WindowedMerge(symbols, merger);
        int size = window;
        for (int start = 0; start < symbols.size(); ) {
            int end = (int) Math.min(symbols.size(), (long) start + size);
            merge.fill(merge.window, start, end);
            size = Math.max(window, merge.join(start, end));
            start = end;
            during.accept(end);
        }
        return merge.done.merged();
    }

    private void fill(Tokens tokens, int start, int end) {
        tokens.truncate(0);
        merger.merge(symbols, start, end);
        merger.appendTo(tokens.merged(), tokens.starts());
    }

    /** Puts the window {@code [start, end)} behind what is done; returns how many symbols before it were merged anew. */
    private int join(int start, int end) {
        for (int count = 1; done.size() > 0; count = (int) Math.min(Integer.MAX_VALUE, 2L * count)) {
            int left = Math.max(0, done.size() - count);
            int right = Math.min(window.size(), count);
            int from = done.starts().id(left);
            fill(seam, from, startAt(right, end));
            if (isKept(left, right)) {
                done.truncate(left);
                done.add(seam, 0);
                done.add(window, right);
                return start - from;
            }
        }
        done.add(window, 0);
        return 0;
    }

    private int startAt(int index, int end) {
        return index < window.size() ? window.starts().id(index) : end;
    }

    /** Whether the seam's first and last tokens are the old ones, as far as others lie beyond them. */
    private boolean isKept(int left, int right) {
        int second = left + 1 < done.size()
                ? done.starts().id(left + 1)
                : window.starts().id(0);
        boolean first = left == 0 || seam.starts().id(Math.min(1, seam.size() - 1)) == second;
        boolean last = right == window.size()
                || seam.starts().id(seam.size() - 1) == window.starts().id(right - 1);
        return first && last;
    }
}
