package roselle.grammar.ebnf;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import roselle.grammar.automaton.GrammarException;
import roselle.grammar.automaton.GrammarException.Reason;
import roselle.grammar.ebnf.Expression.Choice;
import roselle.grammar.ebnf.Expression.Reference;
import roselle.grammar.ebnf.Expression.Repeat;
import roselle.grammar.ebnf.Expression.Sequence;
import roselle.grammar.ebnf.Expression.Terminal;
import roselle.grammar.regex.CodePoints;
import roselle.grammar.regex.Languages;

/**
 * Reads GBNF as llama.cpp does: rules of {@code ::=}, texts in quotes, sets in brackets, a point for any character, groups, and
 * {@code * + ? {m,n}} behind a part. Tokens ({@code <[12]>}) are refused: a constraint speaks of bytes.
 */
public final class GbnfReader {
    private static final int MAX_NESTING = 200;

    private final Languages languages;
    private final int[] text;
    private int at;
    private int nesting;

    private GbnfReader(Languages languages, String grammar) {
        this.languages = languages;
        this.text = grammar.codePoints().toArray();
    }

    /**
     * The rules of a grammar by their names.
     *
     * @throws GrammarException if it is no grammar; the message names the line
     */
    public static Map<String, Expression> read(Languages languages, String grammar) {
        GbnfReader reader = new GbnfReader(languages, grammar);
        Map<String, Expression> rules = new LinkedHashMap<>();
        reader.skip(true);
        while (reader.at < reader.text.length) {
            String name = reader.name();
            reader.skip(false);
            reader.expect("::=");
            reader.skip(true);
            rules.put(name, reader.choice(false)); // a later rule of a name replaces the one before
            reader.endLine();
        }
        return rules;
    }

    private int peek() {
        return at < text.length ? text[at] : -1;
    }

    private GrammarException invalid(String message) {
        return refused(Reason.INVALID, message);
    }

    private GrammarException refused(Reason reason, String message) {
        int line = 1;
        for (int i = 0; i < Math.min(at, text.length); i++) {
            line += text[i] == '\n' ? 1 : 0;
        }
        return new GrammarException(reason, "line " + line + " of the grammar: " + message);
    }

    /** Skips blanks and comments; line breaks, too, where a rule goes on. */
    private void skip(boolean isBroken) {
        while (true) {
            int next = peek();
            if (next == '#') {
                while (peek() >= 0 && peek() != '\n' && peek() != '\r') {
                    at++;
                }
            } else if (next == ' ' || next == '\t' || (isBroken && (next == '\n' || next == '\r'))) {
                at++;
            } else {
                return;
            }
        }
    }

    private void endLine() {
        if (peek() >= 0 && peek() != '\n' && peek() != '\r') {
            throw invalid("a line break or the end is expected before '" + Character.toString(peek()) + "'.");
        }
        skip(true);
    }

    private void expect(String sign) {
        for (int i = 0; i < sign.length(); i++) {
            if (peek() != sign.charAt(i)) {
                throw invalid("'" + sign + "' is expected.");
            }
            at++;
        }
    }

    private static boolean isOfName(int symbol) {
        return (symbol >= 'a' && symbol <= 'z')
                || (symbol >= 'A' && symbol <= 'Z')
                || (symbol >= '0' && symbol <= '9')
                || symbol == '-';
    }

    private String name() {
        int from = at;
        while (isOfName(peek())) {
            at++;
        }
        if (from == at) {
            throw invalid("a name is expected.");
        }
        return new String(text, from, at - from);
    }

    private Expression choice(boolean isNested) {
        List<Expression> parts = new ArrayList<>();
        parts.add(sequence(isNested));
        while (peek() == '|') {
            at++;
            skip(true);
            parts.add(sequence(isNested));
        }
        return parts.size() == 1 ? parts.getFirst() : new Choice(parts);
    }

    private Expression sequence(boolean isNested) {
        List<Expression> parts = new ArrayList<>();
        while (true) {
            int next = peek();
            if (next == '*' || next == '+' || next == '?' || next == '{') {
                if (parts.isEmpty()) {
                    throw invalid("there is nothing to repeat before '" + Character.toString(next) + "'.");
                }
                parts.add(repeated(parts.removeLast(), next, isNested));
            } else if (next == '"' || next == '[' || next == '.' || next == '(' || isOfName(next)) {
                parts.add(part(next));
            } else if (next == '<' || next == '!') {
                throw refused(Reason.UNSUPPORTED, "tokens are not supported, only texts.");
            } else {
                return parts.size() == 1 ? parts.getFirst() : new Sequence(parts);
            }
            skip(isNested);
        }
    }

    private Expression part(int next) {
        return switch (next) {
            case '"' -> new Terminal(languages.text(quoted()));
            case '[' -> new Terminal(languages.symbol(set()));
            case '.' -> {
                at++;
                yield new Terminal(languages.symbol(CodePoints.ALL));
            }
            case '(' -> group();
            default -> new Reference(name());
        };
    }

    private Expression group() {
        if (++nesting > MAX_NESTING) {
            throw new GrammarException(Reason.BUDGET, "groups are nested deeper than " + MAX_NESTING + ".");
        }
        at++;
        skip(true);
        Expression inside = choice(true);
        expect(")");
        nesting--;
        return inside;
    }

    private String quoted() {
        at++;
        StringBuilder found = new StringBuilder();
        while (peek() != '"') {
            found.appendCodePoint(symbol());
        }
        at++;
        return found.toString();
    }

    private CodePoints set() {
        at++;
        boolean isOpposite = peek() == '^';
        at += isOpposite ? 1 : 0;
        CodePoints set = CodePoints.NONE;
        while (peek() != ']') {
            int first = symbol();
            int last = first;
            if (peek() == '-' && at + 1 < text.length && text[at + 1] != ']') {
                at++;
                last = symbol();
            }
            set = last < first ? set : set.or(CodePoints.range(first, last));
        }
        at++;
        return isOpposite ? set.not() : set;
    }

    private int symbol() {
        int symbol = peek();
        if (symbol < 0) {
            throw invalid("the grammar ends within quotes or brackets.");
        }
        at++;
        if (symbol != '\\') {
            return symbol;
        }
        int escape = peek();
        at++;
        return switch (escape) {
            case 'x' -> hex(2);
            case 'u' -> hex(4);
            case 'U' -> hex(8);
            case 't' -> '\t';
            case 'r' -> '\r';
            case 'n' -> '\n';
            case '\\', '"', '[', ']' -> escape;
            default -> throw invalid("the escape is not known.");
        };
    }

    private int hex(int digits) {
        int value = 0;
        for (int i = 0; i < digits; i++) {
            int digit = peek() < 0 ? -1 : Character.digit(peek(), 16);
            if (digit < 0) {
                throw invalid(digits + " hexadecimal digits are expected.");
            }
            value = value << 4 | digit;
            at++;
        }
        if (!Character.isValidCodePoint(value)) {
            throw invalid("there is no such character.");
        }
        return value;
    }

    private Expression repeated(Expression part, int sign, boolean isNested) {
        at++;
        return switch (sign) {
            case '*' -> new Repeat(part, 0, Integer.MAX_VALUE);
            case '+' -> new Repeat(part, 1, Integer.MAX_VALUE);
            case '?' -> new Repeat(part, 0, 1);
            default -> counted(part, isNested);
        };
    }

    private Expression counted(Expression part, boolean isNested) {
        skip(isNested);
        int min = number();
        skip(isNested);
        int max = min;
        if (peek() == ',') {
            at++;
            skip(isNested);
            max = Character.digit(Math.max(0, peek()), 10) >= 0 ? number() : Integer.MAX_VALUE;
            skip(isNested);
        }
        expect("}");
        if (max < min) {
            throw invalid("a part cannot be repeated at least " + min + " and at most " + max + " times.");
        }
        return new Repeat(part, min, max);
    }

    private int number() {
        long value = 0;
        int from = at;
        while (peek() >= '0' && peek() <= '9') {
            value = Math.min(value * 10 + peek() - '0', Integer.MAX_VALUE);
            at++;
        }
        if (from == at) {
            throw invalid("a number is expected.");
        }
        return (int) value;
    }
}
