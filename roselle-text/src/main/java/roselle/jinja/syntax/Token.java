package roselle.jinja.syntax;

/**
 * A piece of a template's source.
 *
 * @param text what a name, operator or text reads; a string without its quotes and escapes
 * @param at offset in the source
 */
record Token(Kind kind, String text, int at) {
    enum Kind {
        TEXT,
        PRINT_BEGIN,
        PRINT_END,
        BLOCK_BEGIN,
        BLOCK_END,
        NAME,
        STRING,
        INTEGER,
        FLOAT,
        OPERATOR,
        END
    }

    boolean isName(String name) {
        return kind == Kind.NAME && text.equals(name);
    }

    boolean isOperator(String operator) {
        return kind == Kind.OPERATOR && text.equals(operator);
    }

    /** What an error message calls it. */
    String described() {
        return switch (kind) {
            case TEXT -> "template text";
            case PRINT_BEGIN -> "begin of print statement";
            case PRINT_END -> "end of print statement";
            case BLOCK_BEGIN -> "begin of statement block";
            case BLOCK_END -> "end of statement block";
            case END -> "end of template";
            case NAME, OPERATOR, INTEGER, FLOAT -> "'" + text + "'";
            case STRING -> "string";
        };
    }
}
