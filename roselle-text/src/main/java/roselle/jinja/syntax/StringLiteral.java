package roselle.jinja.syntax;

import roselle.jinja.text.TemplateFault;

/** Python's escapes in string literals. */
final class StringLiteral {
    private final String literal;
    private final int place;
    private final StringBuilder text = new StringBuilder();
    private int at;

    private StringLiteral(String literal, int place) {
        this.literal = literal;
        this.place = place;
    }

    /** What a literal without its quotes stands for. */
    static String decode(String literal, int place) {
        return literal.indexOf('\\') < 0 ? literal : new StringLiteral(literal, place).run();
    }

    private String run() {
        while (at < literal.length()) {
            char unit = literal.charAt(at++);
            if (unit == '\\') {
                escape(literal.codePointAt(at));
            } else {
                text.append(unit);
            }
        }
        return text.toString();
    }

    private void escape(int kind) {
        at += Character.charCount(kind);
        switch (kind) {
            case '\n' -> {}
            case '\\', '\'', '"' -> text.append((char) kind);
            case 'n' -> text.append('\n');
            case 't' -> text.append('\t');
            case 'r' -> text.append('\r');
            case 'a' -> text.append('\u0007');
            case 'b' -> text.append('\b');
            case 'f' -> text.append('\f');
            case 'v' -> text.append('\u000b');
            case 'x' -> hexadecimal(2);
            case 'u' -> hexadecimal(4);
            case 'U' -> hexadecimal(8);
            case 'N' -> named();
            case '0', '1', '2', '3', '4', '5', '6', '7' -> octal();
            default -> unknown(kind);
        }
    }

    private void hexadecimal(int digits) {
        int code = 0;
        for (int i = 0; i < digits; i++) {
            int digit =
                    at < literal.length() && literal.charAt(at) < 128 ? Character.digit(literal.charAt(at), 16) : -1;
            if (digit < 0 || code > 0x10ffff) {
                throw invalid();
            }
            code = code * 16 + digit;
            at++;
        }
        if (!Character.isValidCodePoint(code)) {
            throw invalid();
        }
        text.appendCodePoint(code);
    }

    private void octal() {
        at--;
        int code = 0;
        for (int i = 0; i < 3 && at < literal.length() && Character.digit(literal.charAt(at), 8) >= 0; i++) {
            code = code * 8 + Character.digit(literal.charAt(at++), 8);
        }
        text.appendCodePoint(code);
    }

    private void named() {
        int end = literal.indexOf('}', at);
        if (!literal.startsWith("{", at) || end < 0) {
            throw invalid();
        }
        try {
            text.appendCodePoint(Character.codePointOf(literal.substring(at + 1, end)));
        } catch (IllegalArgumentException _) {
            throw invalid();
        }
        at = end + 1;
    }

    /** An escape that Python does not know keeps its backslash; beyond ASCII, Jinja spells the character out. */
    private void unknown(int kind) {
        text.append('\\');
        if (kind < 128) {
            text.append((char) kind);
        } else {
            text.append(String.format(kind < 0x100 ? "x%02x" : kind < 0x10000 ? "u%04x" : "U%08x", kind));
        }
    }

    private TemplateFault invalid() {
        return new TemplateFault("the string holds an invalid escape", place);
    }
}
