package roselle.grammar.regex;

import org.jspecify.annotations.Nullable;

/** The rests of some of the texts of a sorted list, those that share a beginning: a node of their trie. */
record Literals(Texts texts, int from, int to, int depth) {
    /** Sorted texts, and their code points. Compared by identity. */
    static final class Texts {
        final String[] spelled;
        final int[][] codePoints;

        Texts(String[] spelled, int[][] codePoints) {
            this.spelled = spelled;
            this.codePoints = codePoints;
        }
    }

    /** The shortest comes first, so only it can end here. */
    boolean endsHere() {
        return texts.codePoints[from].length == depth;
    }

    @Nullable
    String completed() {
        return endsHere() ? texts.spelled[from] : null;
    }
}
