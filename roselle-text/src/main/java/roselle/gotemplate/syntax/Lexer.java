package roselle.gotemplate.syntax;

import java.util.ArrayList;
import java.util.List;
import roselle.gotemplate.syntax.Token.Kind;
import roselle.jinja.text.TemplateFault;

/** Cuts a template into text and the tokens of its actions; comments are gone, and what actions trim. */
final class Lexer {
    private static final String LEFT = "{{";
    private static final String RIGHT = "}}";

    private final String source;
    private final List<Token> tokens = new ArrayList<>();
    private int at;
    private int open; // parentheses

    private Lexer(String source) {
        this.source = source;
    }

    static List<Token> tokens(String source) {
        var lexer = new Lexer(source);
        lexer.readAll();
        return lexer.tokens;
    }

    private void readAll() {
        while (at < source.length()) {
            int left = source.indexOf(LEFT, at);
            text(left < 0 ? source.length() : left);
            if (left >= 0) {
                action();
            }
        }
        add(Kind.END, at);
    }

    private void add(Kind kind, int from) {
        tokens.add(new Token(kind, source.substring(from, at), from));
    }

    private void text(int end) {
        boolean isTrimmed = end < source.length() && trimsLeft(end + LEFT.length());
        int last = end;
        while (isTrimmed && last > at && isSpace(source.charAt(last - 1))) {
            last--;
        }
        if (last > at) {
            tokens.add(new Token(Kind.TEXT, source.substring(at, last), at));
        }
        at = end;
    }

    private boolean trimsLeft(int from) {
        return from + 1 < source.length() && source.charAt(from) == '-' && isSpace(source.charAt(from + 1));
    }

    private boolean trimsRight(int from) {
        return from < source.length() && isSpace(source.charAt(from)) && source.startsWith("-" + RIGHT, from + 1);
    }

    private static boolean isSpace(int letter) {
        return letter == ' ' || letter == '\t' || letter == '\r' || letter == '\n';
    }

    private static boolean isWordPart(int letter) {
        return letter == '_'
                || Character.isLetter(letter)
                || Character.getType(letter) == Character.DECIMAL_DIGIT_NUMBER;
    }

    private void action() {
        int begin = at;
        at += LEFT.length();
        int content = trimsLeft(at) ? at + 2 : at;
        if (source.startsWith("/*", content)) {
            comment(begin, content);
            return;
        }
        add(Kind.LEFT, begin);
        at = content;
        open = 0;
        while (!atRight()) {
            token(begin);
        }
        if (open > 0) {
            throw new TemplateFault("unclosed left parenthesis", at);
        }
        right();
    }

    private void comment(int begin, int content) {
        int end = source.indexOf("*/", content + 2);
        if (end < 0) {
            throw new TemplateFault("unclosed comment", begin);
        }
        at = end + 2;
        if (!atRight()) {
            throw new TemplateFault("a comment ends before its action does", begin);
        }
        right();
        tokens.removeLast();
    }

    private boolean atRight() {
        return trimsRight(at) || source.startsWith(RIGHT, at);
    }

    private void right() {
        boolean isTrimmed = trimsRight(at);
        int begin = isTrimmed ? at + 2 : at;
        at = begin + RIGHT.length();
        add(Kind.RIGHT, begin);
        while (isTrimmed && at < source.length() && isSpace(source.charAt(at))) {
            at++;
        }
    }

    private void token(int action) {
        if (at >= source.length()) {
            throw new TemplateFault("unclosed action", action);
        }
        int begin = at;
        int letter = source.codePointAt(at);
        if (isSpace(letter)) {
            space();
            return;
        }
        at += Character.charCount(letter);
        switch (letter) {
            case '=' -> add(Kind.ASSIGN, begin);
            case ':' -> declaration(begin);
            case '|' -> add(Kind.PIPE, begin);
            case ',' -> add(Kind.COMMA, begin);
            case '(', ')' -> parenthesis(letter, begin);
            case '"', '\'' -> quoted((char) letter, begin);
            case '`' -> rawQuoted(begin);
            case '$' -> name(Kind.VARIABLE, Kind.VARIABLE, begin);
            case '.' -> dot(begin);
            default -> other(letter, begin);
        }
    }

    private void space() {
        int begin = at;
        while (at < source.length() && isSpace(source.charAt(at)) && !trimsRight(at)) {
            at++;
        }
        add(Kind.SPACE, begin);
    }

    private void declaration(int begin) {
        if (!source.startsWith("=", at)) {
            throw new TemplateFault("expected :=", begin);
        }
        at++;
        add(Kind.DECLARE, begin);
    }

    private void parenthesis(int letter, int begin) {
        open += letter == '(' ? 1 : -1;
        if (open < 0) {
            throw new TemplateFault("unexpected right parenthesis", begin);
        }
        add(letter == '(' ? Kind.OPEN : Kind.CLOSE, begin);
    }

    private void quoted(char quote, int begin) {
        while (at < source.length() && source.charAt(at) != quote && source.charAt(at) != '\n') {
            at += source.charAt(at) == '\\' && !source.startsWith("\n", at + 1) ? 2 : 1;
        }
        if (at >= source.length() || source.charAt(at) != quote) {
            at = Math.min(at, source.length());
            throw new TemplateFault("unterminated quoted string", begin);
        }
        at++;
        add(quote == '"' ? Kind.STRING : Kind.CHARACTER, begin);
    }

    private void rawQuoted(int begin) {
        int end = source.indexOf('`', at);
        if (end < 0) {
            throw new TemplateFault("unterminated raw quoted string", begin);
        }
        at = end + 1;
        add(Kind.RAW_STRING, begin);
    }

    private void dot(int begin) {
        if (at < source.length() && isDigit(source.charAt(at))) {
            number(begin);
        } else {
            name(Kind.DOT, Kind.FIELD, begin);
        }
    }

    private static boolean isDigit(char letter) {
        return letter >= '0' && letter <= '9';
    }

    private void name(Kind alone, Kind named, int begin) {
        int first = at;
        while (at < source.length() && isWordPart(source.codePointAt(at))) {
            at += Character.charCount(source.codePointAt(at));
        }
        requireTerminator();
        add(at == first ? alone : named, begin);
    }

    /** What may follow a word: so that {@code $x+2} is no sum that looks like a name. */
    private void requireTerminator() {
        boolean ends = at >= source.length()
                || isSpace(source.charAt(at))
                || ".,|:()".indexOf(source.charAt(at)) >= 0
                || source.startsWith(RIGHT, at);
        if (!ends) {
            throw new TemplateFault("unexpected character " + Character.toString(source.codePointAt(at)), at);
        }
    }

    private void other(int letter, int begin) {
        if (letter == '+' || letter == '-' || (letter >= '0' && letter <= '9')) {
            number(begin);
        } else if (isWordPart(letter)) {
            name(Kind.WORD, Kind.WORD, begin);
        } else {
            throw new TemplateFault("unexpected character " + Character.toString(letter) + " in an action", begin);
        }
    }

    /** Takes whatever may be of a number: {@link Literals} reads it. */
    private void number(int begin) {
        while (at < source.length() && isNumberPart(begin)) {
            at++;
        }
        add(Kind.NUMBER, begin);
    }

    private boolean isNumberPart(int begin) {
        char letter = source.charAt(at);
        if (letter == '+' || letter == '-') {
            char before = Character.toLowerCase(source.charAt(at - 1));
            boolean isHex = source.startsWith("0x", begin) || source.startsWith("0X", begin);
            return isHex ? before == 'p' : before == 'e';
        }
        return letter == '.' || isWordPart(letter);
    }
}
