package roselle.grammar.regex;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import roselle.grammar.automaton.GrammarException;
import roselle.grammar.automaton.GrammarException.Reason;

/**
 * Reads regular expressions in ECMA-262's syntax with its flag {@code u}; what is harmless without the flag is read, too. References
 * to groups, word boundaries and look-behind are refused.
 */
final class RegexParser {
    /** An expression as it was written. */
    sealed interface Node {
        record Symbols(CodePoints set) implements Node {}

        record Sequence(List<Node> parts) implements Node {}

        record Choice(List<Node> parts) implements Node {}

        record Repeat(Node part, int min, int max) implements Node {}

        /** The beginning of the text. */
        record Begin() implements Node {}

        /** The end of the text. */
        record End() implements Node {}

        record LookAhead(Node part, boolean isNegative) implements Node {}
    }

    private static final int MAX_DEPTH = 200;
    private static final String SYNTAX = "^$\\.*+?()[]{}|/";
    private static final CodePoints DIGITS = CodePoints.range('0', '9');
    private static final CodePoints WORD =
            DIGITS.or(CodePoints.range('a', 'z')).or(CodePoints.range('A', 'Z')).or(CodePoints.of('_'));
    private static final CodePoints SPACE = CodePoints.range(9, 13)
            .or(CodePoints.ofEach(" \u00A0\u1680\u2028\u2029\u202F\u205F\u3000\uFEFF"))
            .or(CodePoints.range(0x2000, 0x200A));
    private static final CodePoints LINE_ENDS = CodePoints.ofEach("\n\r\u2028\u2029");

    private static final Set<String> FLAGS = Set.of("i", "s", "is", "si");

    private final String text;
    private int at;
    private int depth;
    private boolean ignoresCase;
    private boolean dotIsAny;

    RegexParser(String text) {
        this.text = text;
    }

    Node parse() {
        readFlags();
        Node node = choice();
        if (at < text.length()) {
            throw invalid("an unmatched )");
        }
        return node;
    }

    /** What may stand before all else: letters of both cases are alike, a dot is any symbol. */
    private void readFlags() {
        int end = text.startsWith("(?") ? text.indexOf(')') : -1;
        String flags = end < 0 ? "" : text.substring(2, end);
        if (FLAGS.contains(flags)) {
            ignoresCase = flags.contains("i");
            dotIsAny = flags.contains("s");
            at = end + 1;
        }
    }

    private GrammarException invalid(String what) {
        return new GrammarException(Reason.INVALID, "the expression has " + what + " at character " + at + ".");
    }

    private GrammarException unsupported(String what) {
        return new GrammarException(
                Reason.UNSUPPORTED, "the expression has " + what + " at character " + at + ", which is not supported.");
    }

    private boolean has(char character) {
        return at < text.length() && text.charAt(at) == character;
    }

    private boolean take(String word) {
        boolean is = text.startsWith(word, at);
        at += is ? word.length() : 0;
        return is;
    }

    private Node choice() {
        if (++depth > MAX_DEPTH) {
            throw new GrammarException(Reason.BUDGET, "the expression is nested too deep.");
        }
        List<Node> parts = new ArrayList<>();
        parts.add(sequence());
        while (take("|")) {
            parts.add(sequence());
        }
        depth--;
        return parts.size() == 1 ? parts.getFirst() : new Node.Choice(parts);
    }

    private Node sequence() {
        List<Node> parts = new ArrayList<>();
        while (at < text.length() && !has('|') && !has(')')) {
            parts.add(repeated());
        }
        return parts.size() == 1 ? parts.getFirst() : new Node.Sequence(parts);
    }

    private Node repeated() {
        Node node = atom();
        while (at < text.length()) {
            int min;
            int max;
            if (take("*")) {
                min = 0;
                max = Language.UNBOUNDED;
            } else if (take("+")) {
                min = 1;
                max = Language.UNBOUNDED;
            } else if (take("?")) {
                min = 0;
                max = 1;
            } else if (has('{') && isCount()) {
                at++;
                min = number();
                max = !take(",") ? min : has('}') ? Language.UNBOUNDED : number();
                at++;
                if (max < min) {
                    throw invalid("a count whose end is below its beginning");
                }
            } else {
                return node;
            }
            take("?"); // lazy or not, the texts are the same
            if (has('*') || has('+') || has('?')) {
                throw invalid("a quantifier of a quantifier");
            }
            node = new Node.Repeat(node, min, max);
        }
        return node;
    }

    private boolean isCount() {
        int end = at + 1;
        while (end < text.length() && Character.isDigit(text.charAt(end))) {
            end++;
        }
        if (end == at + 1 || end == text.length()) {
            return false;
        }
        if (text.charAt(end) == ',') {
            end++;
            while (end < text.length() && Character.isDigit(text.charAt(end))) {
                end++;
            }
        }
        return end < text.length() && text.charAt(end) == '}';
    }

    private int number() {
        long value = 0;
        while (at < text.length() && Character.isDigit(text.charAt(at))) {
            value = Math.min(Language.UNBOUNDED - 1L, value * 10 + text.charAt(at++) - '0');
        }
        return (int) value;
    }

    private Node atom() {
        int symbol = text.codePointAt(at);
        at += Character.charCount(symbol);
        return switch (symbol) {
            case '^' -> new Node.Begin();
            case '$' -> new Node.End();
            case '.' -> new Node.Symbols(dotIsAny ? CodePoints.ALL : LINE_ENDS.not());
            case '(' -> group();
            case '[' -> new Node.Symbols(folded(set()));
            case '\\' -> escaped();
            case '*', '+', '?' -> throw invalid("a quantifier of nothing");
            default -> new Node.Symbols(folded(CodePoints.of(symbol)));
        };
    }

    private CodePoints folded(CodePoints set) {
        if (!ignoresCase) {
            return set;
        }
        CodePoints all = set;
        for (char letter = 'a'; letter <= 'z'; letter++) {
            char upper = Character.toUpperCase(letter);
            if (set.contains(letter) || set.contains(upper)) {
                all = all.or(CodePoints.of(letter)).or(CodePoints.of(upper));
            }
        }
        return all;
    }

    private Node group() {
        boolean isAhead = false;
        boolean isNegative = false;
        if (take("?")) {
            if (take("=")) {
                isAhead = true;
            } else if (take("!")) {
                isAhead = true;
                isNegative = true;
            } else if (text.startsWith("<=", at) || text.startsWith("<!", at)) {
                throw unsupported("look-behind");
            } else if (take("<") || take("P<")) {
                int end = text.indexOf('>', at);
                if (end < 0) {
                    throw invalid("a group's name without an end");
                }
                at = end + 1;
            } else if (!take(":")) {
                throw unsupported("an unknown kind of group");
            }
        }
        Node inside = choice();
        if (!take(")")) {
            throw invalid("a group without an end");
        }
        return isAhead ? new Node.LookAhead(inside, isNegative) : inside;
    }

    private Node escaped() {
        if (at == text.length()) {
            throw invalid("a lone backslash");
        }
        char symbol = text.charAt(at);
        if (symbol == 'b' || symbol == 'B') {
            throw unsupported("a word boundary");
        }
        if ((symbol >= '1' && symbol <= '9') || symbol == 'k') {
            throw unsupported("a reference to a group");
        }
        return new Node.Symbols(folded(classOrCharacter(false)));
    }

    /** What follows a backslash. */
    private CodePoints classOrCharacter(boolean isInSet) {
        int symbol = text.codePointAt(at);
        at += Character.charCount(symbol);
        return switch (symbol) {
            case 'd' -> DIGITS;
            case 'D' -> DIGITS.not();
            case 'w' -> WORD;
            case 'W' -> WORD.not();
            case 's' -> SPACE;
            case 'S' -> SPACE.not();
            case 'p' -> property();
            case 'P' -> property().not();
            case 'n' -> CodePoints.of('\n');
            case 'r' -> CodePoints.of('\r');
            case 't' -> CodePoints.of('\t');
            case 'f' -> CodePoints.of('\f');
            case 'v' -> CodePoints.of(0x0B);
            case '0' -> CodePoints.of(0);
            case 'b' -> CodePoints.of('\b'); // in a set; outside it is a boundary
            case 'x' -> CodePoints.of(hexadecimal(2));
            case 'u' -> CodePoints.of(unicode());
            case 'c' -> CodePoints.of(control());
            default -> {
                boolean isPlain = SYNTAX.indexOf(symbol) >= 0 || !Character.isLetterOrDigit(symbol);
                if (!isPlain || (isInSet && symbol == 'B')) {
                    throw unsupported("the escape \\" + Character.toString(symbol));
                }
                yield CodePoints.of(symbol);
            }
        };
    }

    private int control() {
        if (at == text.length() || !Character.isLetter(text.charAt(at))) {
            throw invalid("\\c without a letter");
        }
        return text.charAt(at++) & 31;
    }

    private int hexadecimal(int digits) {
        int value = 0;
        for (int i = 0; i < digits; i++) {
            int digit = at < text.length() ? Character.digit(text.charAt(at++), 16) : -1;
            if (digit < 0) {
                throw invalid("an escape with too few digits");
            }
            value = value << 4 | digit;
        }
        return value;
    }

    private int unicode() {
        if (take("{")) {
            int end = text.indexOf('}', at);
            if (end < at + 1 || end > at + 8) {
                throw invalid("\\u{ without an end");
            }
            int value = hexadecimal(end - at);
            at++;
            if (value > CodePoints.MAX) {
                throw invalid("a code point that is too large");
            }
            return value;
        }
        int first = hexadecimal(4);
        if (Character.isHighSurrogate((char) first) && text.startsWith("\\u", at)) {
            int before = at;
            at += 2;
            int second = hexadecimal(4);
            if (Character.isLowSurrogate((char) second)) {
                return Character.toCodePoint((char) first, (char) second);
            }
            at = before;
        }
        return first;
    }

    private CodePoints property() {
        if (!take("{")) {
            throw invalid("\\p without {");
        }
        int end = text.indexOf('}', at);
        if (end < 0) {
            throw invalid("\\p{ without an end");
        }
        String name = text.substring(at, end);
        CodePoints set = UnicodeProperties.find(name);
        if (set == null) {
            throw unsupported("the property " + name);
        }
        at = end + 1;
        return set;
    }

    private CodePoints set() {
        boolean isNegated = take("^");
        CodePoints set = CodePoints.NONE;
        while (!has(']')) {
            if (at >= text.length()) {
                throw invalid("a set without an end");
            }
            CodePoints first = member();
            boolean isRange = has('-') && at + 1 < text.length() && text.charAt(at + 1) != ']';
            if (isRange && single(first) >= 0) {
                int before = at++;
                CodePoints last = member();
                if (single(last) < 0) {
                    at = before + 1;
                    set = set.or(first).or(CodePoints.of('-'));
                    continue;
                }
                if (single(last) < single(first)) {
                    throw invalid("a range whose end is below its beginning");
                }
                first = CodePoints.range(single(first), single(last));
            }
            set = set.or(first);
        }
        at++;
        return isNegated ? folded(set).not() : set;
    }

    private CodePoints member() {
        int symbol = text.codePointAt(at);
        at += Character.charCount(symbol);
        if (symbol != '\\') {
            return CodePoints.of(symbol);
        }
        if (at == text.length()) {
            throw invalid("a lone backslash");
        }
        return classOrCharacter(true);
    }

    private static int single(CodePoints set) {
        int[] ranges = set.ranges();
        return ranges.length == 2 && ranges[0] == ranges[1] ? ranges[0] : -1;
    }
}
