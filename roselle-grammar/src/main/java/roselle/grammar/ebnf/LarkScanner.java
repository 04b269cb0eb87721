package roselle.grammar.ebnf;

import java.util.ArrayList;
import java.util.List;
import roselle.grammar.automaton.GrammarException;
import roselle.grammar.automaton.GrammarException.Reason;

/** Cuts a Lark grammar into its words: names, texts, expressions, signs and ends of lines, each with its place. */
final class LarkScanner {
    /** What a word is. */
    enum Kind {
        NAME,
        TEXT,
        REGEX,
        NUMBER,
        DIRECTIVE,
        SIGN,
        LINE,
        END
    }

    /**
     * A word.
     *
     * @param text of a text or an expression its inside as it is written; else all of it
     * @param flags letters behind a text or an expression
     * @param offset in the grammar
     */
    record Word(Kind kind, String text, String flags, int offset) {
        boolean is(String sign) {
            return kind == Kind.SIGN && text.equals(sign);
        }
    }

    private final String text;
    private int at;

    private LarkScanner(String text) {
        this.text = text;
    }

    static List<Word> words(String grammar) {
        LarkScanner scanner = new LarkScanner(grammar);
        List<Word> words = new ArrayList<>();
        do {
            words.add(scanner.next());
        } while (words.getLast().kind != Kind.END);
        return words;
    }

    /** A refusal that names the line and column of a place. */
    static GrammarException refused(Reason reason, String grammar, int offset, String message) {
        int line = 1;
        int column = 1;
        for (int i = 0; i < Math.min(offset, grammar.length()); i++) {
            boolean isEnd = grammar.charAt(i) == '\n';
            line += isEnd ? 1 : 0;
            column = isEnd ? 1 : column + 1;
        }
        return new GrammarException(reason, "line " + line + ", column " + column + " of the grammar: " + message);
    }

    private GrammarException invalid(int offset, String message) {
        return refused(Reason.INVALID, text, offset, message);
    }

    private char peek() {
        return at < text.length() ? text.charAt(at) : '\0';
    }

    private Word next() {
        skip();
        int from = at;
        if (at == text.length()) {
            return new Word(Kind.END, "the end", "", from);
        }
        char first = peek();
        if (first == '\n') {
            at++;
            return new Word(Kind.LINE, "the end of the line", "", from);
        }
        if (first == '"') {
            return quoted(Kind.TEXT, '"', "i");
        }
        if (first == '/') {
            return quoted(Kind.REGEX, '/', "imslux");
        }
        if (first >= '0' && first <= '9') {
            return cut(Kind.NUMBER, from, 0);
        }
        if (isOfName(first)) {
            return cut(Kind.NAME, from, 0);
        }
        if (first == '%') {
            return cut(Kind.DIRECTIVE, from, 1);
        }
        for (String sign : List.of("->", "..")) {
            if (text.startsWith(sign, at)) {
                at += sign.length();
                return new Word(Kind.SIGN, sign, "", from);
            }
        }
        at += Character.charCount(text.codePointAt(at));
        return new Word(Kind.SIGN, text.substring(from, at), "", from);
    }

    private Word cut(Kind kind, int from, int length) {
        at += length;
        while (kind == Kind.NUMBER ? peek() >= '0' && peek() <= '9' : isOfName(peek())) {
            at++;
        }
        return new Word(kind, text.substring(from, at), "", from);
    }

    private void skip() {
        while (at < text.length()) {
            if (peek() == '#' || text.startsWith("//", at)) {
                while (at < text.length() && peek() != '\n') {
                    at++;
                }
            } else if (peek() == ' ' || peek() == '\t' || peek() == '\r' || peek() == '\f') {
                at++;
            } else {
                return;
            }
        }
    }

    private static boolean isOfName(char character) {
        return (character >= 'a' && character <= 'z')
                || (character >= 'A' && character <= 'Z')
                || (character >= '0' && character <= '9')
                || character == '_';
    }

    private Word quoted(Kind kind, char quote, String flags) {
        int from = at++;
        while (peek() != quote) {
            if (at >= text.length() || peek() == '\n') {
                throw invalid(from, "the text or expression that begins here does not end in its line.");
            }
            at += peek() == '\\' && at + 1 < text.length() ? 2 : 1;
        }
        String inside = text.substring(from + 1, at++);
        int behind = at;
        while (flags.indexOf(peek()) >= 0 && at < text.length()) {
            at++;
        }
        return new Word(kind, inside, text.substring(behind, at), from);
    }
}
