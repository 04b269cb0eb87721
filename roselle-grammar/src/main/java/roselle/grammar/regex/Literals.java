package roselle.grammar.regex;

import org.jspecify.annotations.Nullable;

/** The rests of some of the texts of a sorted list, those that share a beginning: a node of their trie. */
record Literals(Texts texts, int from, int to, int depth) {
    /** Sorted texts as code points. */
    record Texts(String[] spelled, int[][] codePoints) {
        @Override
        public boolean equals(@Nullable Object other) {
            return this == other;
        }

        @Override
        public int hashCode() {
            return System.identityHashCode(this);
        }
    }

    /** The shortest comes first, so only it can end here. */
    boolean endsHere() {
        return texts.codePoints[from].length == depth;
    }

    @Nullable String completed() {
        return endsHere() ? texts.spelled[from] : null;
    }
}
