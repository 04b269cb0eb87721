package roselle.grammar.automaton;

import java.io.Serial;

/** A constraint that cannot be built, or cannot be followed within its budget; the message says where and why. */
public final class GrammarException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    /** What is wrong, for programs. */
    public enum Reason {
        /** It is no schema, expression or grammar at all. */
        INVALID,
        /** It says something that is not understood here. */
        UNSUPPORTED,
        /** No text belongs to it. */
        EMPTY,
        /** It costs more than the limits allow. */
        BUDGET
    }

    private final Reason reason;
    private final String pointer;
    private final String keyword;

    public GrammarException(Reason reason, String message) {
        this(reason, "", "", message);
    }

    /**
     * A refusal of a part.
     *
     * @param pointer JSON pointer of the schema at fault, such as {@code /properties/age}; empty for the whole
     * @param keyword the keyword at fault, or empty
     */
    public GrammarException(Reason reason, String pointer, String keyword, String message) {
        super(where(pointer, keyword) + message);
        this.reason = reason;
        this.pointer = pointer;
        this.keyword = keyword;
    }

    private static String where(String pointer, String keyword) {
        if (pointer.isEmpty() && keyword.isEmpty()) {
            return "";
        }
        return "at '" + pointer + "'" + (keyword.isEmpty() ? "" : ", keyword '" + keyword + "'") + ": ";
    }

    public Reason reason() {
        return reason;
    }

    /** JSON pointer of the schema at fault, or empty. */
    public String pointer() {
        return pointer;
    }

    /** The keyword at fault, or empty. */
    public String keyword() {
        return keyword;
    }
}
