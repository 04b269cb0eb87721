package roselle.jinja.syntax;

import java.util.ArrayList;
import java.util.List;
import roselle.jinja.operation.TextPredicates;
import roselle.jinja.text.TemplateFault;
import roselle.jinja.text.Text;

/**
 * Cuts a template into tokens.
 *
 * <p>Whitespace is controlled as Hugging Face sets Jinja up: one newline after a block or comment is dropped
 * (trim_blocks), as are spaces between the start of a line and a block or comment (lstrip_blocks); a minus inside a
 * tag drops all whitespace on its side, a plus keeps it.
 */
public final class Lexer {
    private final String source;
    private final List<Token> tokens = new ArrayList<>();
    private int at;
    /** Whether what came before ended with a newline, so that spaces may still open a line. */
    private boolean lineStarts = true;

    private Lexer(String source) {
        this.source = source;
    }

    /** Newlines of all platforms become one, and the last one of the file is dropped. */
    public static String normalized(String source) {
        String unified = source.replace("\r\n", "\n").replace('\r', '\n');
        return unified.endsWith("\n") ? unified.substring(0, unified.length() - 1) : unified;
    }

    /** The tokens of a normalized source; the last one is the end. */
    static List<Token> tokenize(String source) {
        var lexer = new Lexer(source);
        lexer.run();
        return lexer.tokens;
    }

    private void run() {
        while (at < source.length()) {
            int open = nextTag();
            if (open < 0) {
                emit(Token.Kind.TEXT, source.substring(at), at);
                at = source.length();
                break;
            }
            text(open);
            at = open;
            tag();
        }
        emit(Token.Kind.END, "", source.length());
    }

    private int nextTag() {
        for (int i = source.indexOf('{', at); i >= 0 && i + 1 < source.length(); i = source.indexOf('{', i + 1)) {
            if ("{%#".indexOf(source.charAt(i + 1)) >= 0) {
                return i;
            }
        }
        return -1;
    }

    private void emit(Token.Kind kind, String text, int place) {
        if (kind != Token.Kind.TEXT || !text.isEmpty()) {
            tokens.add(new Token(kind, text, place));
        }
    }

    /** Emits what stands before a tag, less the whitespace that the tag strips. */
    private void text(int open) {
        boolean isPrint = source.charAt(open + 1) == '{';
        emit(Token.Kind.TEXT, stripped(source.substring(at, open), signAt(open + 2), isPrint), at);
    }

    private String stripped(String text, char sign, boolean isPrint) {
        if (sign == '-') {
            return Text.stripEnd(text, Text::isSpace);
        }
        if (sign == '+' || isPrint) {
            return text;
        }
        int line = text.lastIndexOf('\n') + 1;
        boolean opensLine = line > 0 || lineStarts;
        return opensLine && text.substring(line).codePoints().allMatch(Text::isSpace) ? text.substring(0, line) : text;
    }

    private char signAt(int place) {
        char unit = place < source.length() ? source.charAt(place) : 0;
        return unit == '-' || unit == '+' ? unit : 0;
    }

    private void tag() {
        int open = at;
        int raw = rawEnd(open, "raw", false);
        if (raw >= 0) {
            raw(open, raw);
            return;
        }
        at = open + (signAt(open + 2) == 0 ? 2 : 3);
        switch (source.charAt(open + 1)) {
            case '#' -> comment(open);
            case '{' -> code(open, Token.Kind.PRINT_BEGIN, Token.Kind.PRINT_END, "}}");
            default -> code(open, Token.Kind.BLOCK_BEGIN, Token.Kind.BLOCK_END, "%}");
        }
    }

    private void comment(int open) {
        int end = source.indexOf("#}", at);
        if (end < 0) {
            throw new TemplateFault("the comment is not closed", open);
        }
        char sign = end > at ? signAt(end - 1) : 0;
        close(end + 2, sign, true);
    }

    /** Steps past a tag's end and the whitespace that the end drops. */
    private void close(int end, char sign, boolean trims) {
        at = end;
        if (sign == '-') {
            skipSpace();
        } else if (sign == 0 && trims && at < source.length() && source.charAt(at) == '\n') {
            at++;
        }
        lineStarts = source.charAt(at - 1) == '\n';
    }

    private void skipSpace() {
        while (at < source.length() && Text.isSpace(source.charAt(at))) {
            at++;
        }
    }

    /** The end of a {@code raw} or {@code endraw} tag that opens here, before its trailing whitespace; else -1. */
    private int rawEnd(int open, String name, boolean mayKeep) {
        if (!source.startsWith("{%", open)) {
            return -1;
        }
        int i = spaceEnd(open + (signAt(open + 2) == 0 ? 2 : 3));
        if (!source.startsWith(name, i)) {
            return -1;
        }
        i = spaceEnd(i + name.length());
        char sign = signAt(i);
        i += sign == '-' || (sign == '+' && mayKeep) ? 1 : 0;
        return source.startsWith("%}", i) ? i + 2 : -1;
    }

    private int spaceEnd(int from) {
        int i = from;
        while (i < source.length() && Text.isSpace(source.charAt(i))) {
            i++;
        }
        return i;
    }

    private void raw(int open, int start) {
        close(start, signAt(start - 3), false);
        int begin = at;
        for (int i = source.indexOf("{%", at); i >= 0; i = source.indexOf("{%", i + 1)) {
            int end = rawEnd(i, "endraw", true);
            if (end >= 0) {
                emit(Token.Kind.TEXT, stripped(source.substring(begin, i), signAt(i + 2), false), begin);
                close(end, signAt(end - 3), true);
                return;
            }
        }
        throw new TemplateFault("the raw block is not closed", open);
    }

    private void code(int open, Token.Kind begin, Token.Kind end, String closing) {
        emit(begin, "", open);
        var brackets = new ArrayList<Character>();
        while (true) {
            skipSpace();
            if (at >= source.length()) {
                throw new TemplateFault("the tag is not closed", open);
            }
            boolean isBlock = end == Token.Kind.BLOCK_END;
            char sign = signAt(at);
            boolean signed = sign == '-' || (sign == '+' && isBlock);
            if (brackets.isEmpty() && source.startsWith(closing, signed ? at + 1 : at)) {
                emit(end, "", at);
                close(at + (signed ? 3 : 2), signed ? sign : 0, isBlock);
                return;
            }
            token(brackets);
        }
    }

    private void token(List<Character> brackets) {
        char unit = source.charAt(at);
        if (unit >= '0' && unit <= '9') {
            number();
        } else if (TextPredicates.isIdentifierStart(source.codePointAt(at))) {
            int start = at;
            while (at < source.length() && TextPredicates.isIdentifierPart(source.codePointAt(at))) {
                at += Character.charCount(source.codePointAt(at));
            }
            emit(Token.Kind.NAME, source.substring(start, at), start);
        } else if (unit == '\'' || unit == '"') {
            string(unit);
        } else {
            operator(brackets);
        }
    }

    private void operator(List<Character> brackets) {
        for (String operator : List.of("//", "**", "==", "!=", ">=", "<=")) {
            if (source.startsWith(operator, at)) {
                emit(Token.Kind.OPERATOR, operator, at);
                at += 2;
                return;
            }
        }
        char unit = source.charAt(at);
        if ("+-/*%~[](){}><=.:|,;".indexOf(unit) < 0) {
            throw new TemplateFault("unexpected character '" + Character.toString(source.codePointAt(at)) + "'", at);
        }
        balance(brackets, unit);
        emit(Token.Kind.OPERATOR, String.valueOf(unit), at);
        at++;
    }

    private void balance(List<Character> brackets, char unit) {
        int opening = "({[".indexOf(unit);
        if (opening >= 0) {
            brackets.add(")}]".charAt(opening));
        } else if (unit == ')' || unit == '}' || unit == ']') {
            if (brackets.isEmpty()) {
                throw new TemplateFault("unexpected '" + unit + "'", at);
            }
            char expected = brackets.removeLast();
            if (expected != unit) {
                throw new TemplateFault("unexpected '" + unit + "', expected '" + expected + "'", at);
            }
        }
    }

    private void number() {
        int start = at;
        boolean afterDot = start > 0 && source.charAt(start - 1) == '.';
        int whole = digitsEnd(start, 10);
        int fraction = source.startsWith(".", whole) ? digitsEnd(whole + 1, 10) : whole;
        fraction = fraction == whole + 1 ? whole : fraction;
        int exponent = exponentEnd(fraction);
        boolean isFloat = !afterDot && (fraction > whole || exponent > fraction);
        at = isFloat ? exponent : integerEnd(start);
        String digits = source.substring(start, at).replace("_", "");
        emit(isFloat ? Token.Kind.FLOAT : Token.Kind.INTEGER, digits, start);
    }

    private int exponentEnd(int from) {
        if (from >= source.length() || Character.toLowerCase(source.charAt(from)) != 'e') {
            return from;
        }
        int digits = from + (signAt(from + 1) == 0 ? 1 : 2);
        int end = digitsEnd(digits, 10);
        return end == digits ? from : end;
    }

    /** Decimal, or with one of Python's prefixes; a leading zero stands alone. */
    private int integerEnd(int start) {
        if (source.charAt(start) != '0') {
            return digitsEnd(start, 10);
        }
        char prefix = start + 1 < source.length() ? Character.toLowerCase(source.charAt(start + 1)) : 0;
        int radix = prefix == 'x' ? 16 : prefix == 'o' ? 8 : prefix == 'b' ? 2 : 1;
        int first = radix == 1 ? start : start + 2;
        int begin = radix > 1 && source.startsWith("_", first) ? first + 1 : first;
        int end = digitsEnd(begin, radix);
        return end == begin ? start + 1 : end;
    }

    /** Digits, with single underscores between them; radix 1 stands for zeros. */
    private int digitsEnd(int from, int radix) {
        int i = from;
        while (i < source.length()) {
            boolean separated = i > from && source.charAt(i) == '_' && isDigit(i + 1, radix);
            if (!separated && !isDigit(i, radix)) {
                break;
            }
            i++;
        }
        return i;
    }

    private boolean isDigit(int place, int radix) {
        if (place >= source.length() || source.charAt(place) >= 128) {
            return false;
        }
        return radix == 1 ? source.charAt(place) == '0' : Character.digit(source.charAt(place), radix) >= 0;
    }

    private void string(char quote) {
        int start = at++;
        while (at < source.length() && source.charAt(at) != quote) {
            at += source.charAt(at) == '\\' ? 2 : 1;
        }
        if (at >= source.length()) {
            throw new TemplateFault("the string is not closed", start);
        }
        emit(Token.Kind.STRING, StringLiteral.decode(source.substring(start + 1, at), start), start);
        at++;
    }
}
