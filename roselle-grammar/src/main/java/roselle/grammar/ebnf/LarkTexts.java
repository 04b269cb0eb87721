package roselle.grammar.ebnf;

import roselle.grammar.automaton.GrammarException.Reason;
import roselle.grammar.ebnf.LarkScanner.Word;

/** The characters of Lark's quoted texts, which are escaped as Python's are. */
final class LarkTexts {
    private static final String ESCAPES = "nrtfvab\\\"'/";
    private static final String MEANINGS = "\n\r\t\f\u000b\u0007\b\\\"'/";

    private LarkTexts() {}

    static String unescaped(String grammar, Word word) {
        String text = word.text();
        StringBuilder meant = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char character = text.charAt(i);
            if (character != '\\') {
                meant.append(character);
                continue;
            }
            char escape = text.charAt(++i);
            int digits = escape == 'x' ? 2 : escape == 'u' ? 4 : escape == 'U' ? 8 : 0;
            int known = ESCAPES.indexOf(escape);
            if (digits == 0 && known < 0) {
                throw LarkScanner.refused(
                        Reason.INVALID, grammar, word.offset() + i, "the escape \\" + escape + " is not known.");
            }
            if (digits == 0) {
                meant.append(MEANINGS.charAt(known));
            } else {
                meant.appendCodePoint(hex(grammar, word, i + 1, digits));
                i += digits;
            }
        }
        return meant.toString();
    }

    private static int hex(String grammar, Word word, int from, int digits) {
        String text = word.text();
        long value = 0;
        for (int i = from; i < from + digits; i++) {
            int digit = i < text.length() ? Character.digit(text.charAt(i), 16) : -1;
            if (digit < 0) {
                throw LarkScanner.refused(
                        Reason.INVALID, grammar, word.offset() + 1 + i, digits + " hexadecimal digits are expected.");
            }
            value = value << 4 | digit;
        }
        if (value > Character.MAX_CODE_POINT) {
            throw LarkScanner.refused(Reason.INVALID, grammar, word.offset() + 1 + from, "there is no such character.");
        }
        return (int) value;
    }

    /** A text as an expression that matches it alone. */
    static String quoted(String text) {
        StringBuilder expression = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char character = text.charAt(i);
            expression
                    .append("^$\\.*+?()[]{}|/".indexOf(character) >= 0 ? "\\" : "")
                    .append(character);
        }
        return expression.toString();
    }
}
