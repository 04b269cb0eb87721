package roselle.grammar.schema;

/** Whitespace between two parts: how much of it has been read, as a number. */
final class Gap {
    /** Nothing yet. */
    static final int NOTHING = 0;

    /** No more may come. */
    static final int FULL = -1;

    private static final int MAX_INDENT = 64;

    private Gap() {}

    /** The gap behind one more byte, or {@link Integer#MIN_VALUE} if that may not come. */
    static int step(SchemaOptions.Whitespace whitespace, int gap, int octet, boolean mayBreak, int depth) {
        boolean isSpace = octet == ' ' || octet == '\n' || octet == '\t' || octet == '\r';
        if (!isSpace || whitespace == SchemaOptions.Whitespace.NONE) {
            return Integer.MIN_VALUE;
        }
        if (whitespace == SchemaOptions.Whitespace.ANY) {
            return NOTHING;
        }
        if (gap == NOTHING && octet == ' ') {
            return FULL;
        }
        if (gap == NOTHING && octet == '\n' && mayBreak) {
            return 1 + Math.min(MAX_INDENT, 4 * depth);
        }
        boolean isIndent = gap > 1 && (octet == ' ' || octet == '\t');
        return isIndent ? gap - 1 : Integer.MIN_VALUE;
    }
}
