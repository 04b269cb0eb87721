package roselle.grammar.regex;

import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The rests of some of the texts of a sorted list, those that share a beginning: a node of their trie.
 *
 * @param gone which of them are left out, counted from the first; null for none, and never the first or the last
 */
record Literals(
        Texts texts, int from, int to, int depth, @Nullable BitSet gone) {
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Literals literals
                && from == literals.from
                && to == literals.to
                && depth == literals.depth
                && texts.equals(literals.texts)
                && Objects.equals(gone, literals.gone);
    }

    @Override
    public int hashCode() {
        return ((texts.hashCode() * 31 + from) * 31 + to) * 31 + depth; // those with others gone are few
    }

    /** Sorted texts, and their code points. Compared by identity. */
    static final class Texts {
        final String[] spelled;
        final int[][] codePoints;
        final Map<String, Integer> index = new HashMap<>();

        Texts(String[] spelled, int[][] codePoints) {
            this.spelled = spelled;
            this.codePoints = codePoints;
            for (int i = 0; i < spelled.length; i++) {
                index.put(spelled[i], i);
            }
        }
    }

    /** Those of some texts between two that are not gone, in the one form that equal rests share; null if there are none. */
    static @Nullable Literals of(Texts texts, int from, int to, int depth, @Nullable BitSet goneOfAll) {
        if (goneOfAll == null) {
            return new Literals(texts, from, to, depth, null);
        }
        int first = goneOfAll.nextClearBit(from);
        int end = goneOfAll.previousClearBit(to - 1) + 1;
        if (first >= end) {
            return null;
        }
        BitSet gone = goneOfAll.get(first, end);
        return new Literals(texts, first, end, depth, gone.isEmpty() ? null : gone);
    }

    /** Which of all texts are gone. */
    @Nullable
    BitSet goneOfAll() {
        if (gone == null) {
            return null;
        }
        BitSet all = new BitSet(to);
        gone.stream().forEach(i -> all.set(from + i));
        return all;
    }

    /** Code points of the longest, those that are gone counted too. */
    int longest() {
        int longest = 0;
        for (int i = from; i < to; i++) {
            longest = Math.max(longest, texts.codePoints[i].length - depth);
        }
        return longest;
    }

    /** The shortest comes first, so only it can end here. */
    boolean endsHere() {
        return texts.codePoints[from].length == depth;
    }

    /** What is still to come of the first. */
    String rest() {
        return rest(from);
    }

    /** Whether one of all the texts is not left out. */
    boolean has(int index) {
        return gone == null || !gone.get(index - from);
    }

    /** What is still to come of one of all the texts. */
    String rest(int index) {
        int[] codePoints = texts.codePoints[index];
        return new String(codePoints, depth, codePoints.length - depth);
    }

    @Nullable
    String completed() {
        return endsHere() ? texts.spelled[from] : null;
    }
}
