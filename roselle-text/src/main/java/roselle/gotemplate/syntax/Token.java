package roselle.gotemplate.syntax;

/**
 * A piece of a template.
 *
 * @param text as it is written; of text around actions, without what they trim
 * @param at its offset in the source
 */
record Token(Kind kind, String text, int at) {
    enum Kind {
        TEXT,
        LEFT,
        RIGHT,
        SPACE,
        ASSIGN,
        DECLARE,
        PIPE,
        COMMA,
        OPEN,
        CLOSE,
        DOT,
        FIELD,
        VARIABLE,
        WORD,
        NUMBER,
        CHARACTER,
        STRING,
        RAW_STRING,
        END
    }

    boolean is(Kind other) {
        return kind == other;
    }

    boolean isWord(String word) {
        return kind == Kind.WORD && text.equals(word);
    }
}
