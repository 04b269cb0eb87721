package roselle.grammar.ebnf;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import roselle.grammar.automaton.GrammarException;
import roselle.grammar.automaton.GrammarException.Reason;
import roselle.grammar.ebnf.Expression.Choice;
import roselle.grammar.ebnf.Expression.Reference;
import roselle.grammar.ebnf.Expression.Repeat;
import roselle.grammar.ebnf.Expression.Sequence;
import roselle.grammar.ebnf.Expression.Terminal;
import roselle.grammar.ebnf.LarkScanner.Kind;
import roselle.grammar.ebnf.LarkScanner.Word;
import roselle.grammar.regex.CodePoints;
import roselle.grammar.regex.Languages;
import roselle.grammar.regex.Regex;

/**
 * Reads a subset of Lark: rules and terminals, texts, expressions, ranges, groups, repetition, {@code %ignore}, and {@code %import} of
 * Lark's terminals in {@code common}.
 *
 * <p>The texts are those of Lark's Earley parser, which tries every way to cut a text into terminals; what is ignored may stand before
 * and behind each of them, and end wherever it can. What only shapes a tree (aliases, {@code ?} and {@code !} before a rule) changes no texts. Priorities,
 * templates and everything else are refused, with line and column.
 */
public final class LarkReader {
    /** The name in {@link #read} from which whole texts are derived. */
    public static final String WHOLE = "%whole";

    private static final String START = "start";
    private static final String IGNORED = "%ignore";
    private static final int MAX_NESTING = 200;

    private final Languages languages;
    private final String text;
    private final List<Word> words;
    private final Map<String, Expression> rules = new LinkedHashMap<>();
    private final Map<String, Expression> common;
    private final Map<String, Integer> asked = new LinkedHashMap<>(); // first place of each name that is referred to
    private final List<Expression> ignored = new ArrayList<>();
    private int at;
    private int nesting;
    private boolean isInTerminal;

    private LarkReader(Languages languages, String grammar, Map<String, Expression> common) {
        this.languages = languages;
        this.text = grammar;
        this.words = LarkScanner.words(grammar);
        this.common = common;
    }

    /** Whether a grammar is in Lark's form rather than in GBNF, as vLLM tells them apart: no line has {@code ::=}. */
    public static boolean isLark(String grammar) {
        return grammar.lines().noneMatch(line -> withoutComment(line).contains("::="));
    }

    private static String withoutComment(String line) {
        int sharp = line.indexOf('#');
        int slashes = line.indexOf("//");
        int end = sharp < 0 || slashes < 0 ? Math.max(sharp, slashes) : Math.min(sharp, slashes);
        return end < 0 ? line : line.substring(0, end);
    }

    /**
     * The rules and terminals of a grammar by their names, and {@link #WHOLE}.
     *
     * @throws GrammarException if it is no grammar, or has what is not supported; the message names line and column
     */
    public static Map<String, Expression> read(Languages languages, String grammar) {
        Map<String, Expression> common = new LarkReader(languages, LarkCommon.TERMINALS, Map.of()).readAll();
        LarkReader reader = new LarkReader(languages, grammar, common);
        Map<String, Expression> rules = reader.readAll();
        reader.check();
        Expression start = rules.get(START);
        if (start == null) {
            throw new GrammarException(Reason.INVALID, "the grammar has no rule 'start'.");
        }
        Expression spaces = reader.ignored.isEmpty()
                ? new Sequence(List.of())
                : new Repeat(new Choice(reader.ignored), 0, Integer.MAX_VALUE);
        rules.put(IGNORED, spaces);
        rules.put(WHOLE, new Sequence(List.of(new Reference(IGNORED), new Reference(START))));
        return rules;
    }

    private Map<String, Expression> readAll() {
        while (peek().kind() != Kind.END) {
            if (peek().kind() == Kind.LINE) {
                at++;
            } else if (peek().kind() == Kind.DIRECTIVE) {
                directive(take());
            } else {
                rule();
            }
        }
        return rules;
    }

    // ---- words ----

    private Word peek() {
        return words.get(at);
    }

    private Word take() {
        return words.get(at++);
    }

    private boolean takes(String sign) {
        boolean is = peek().is(sign);
        at += is ? 1 : 0;
        return is;
    }

    private void expect(String sign) {
        if (!takes(sign)) {
            throw invalid(peek(), "'" + sign + "' is expected before '" + peek().text() + "'.");
        }
    }

    private Word name() {
        Word word = take();
        if (word.kind() != Kind.NAME) {
            throw invalid(word, "a name is expected before '" + word.text() + "'.");
        }
        return word;
    }

    private GrammarException invalid(Word word, String message) {
        return LarkScanner.refused(Reason.INVALID, text, word.offset(), message);
    }

    private GrammarException unsupported(Word word, String what) {
        return LarkScanner.refused(Reason.UNSUPPORTED, text, word.offset(), what + " not supported.");
    }

    private void endLine() {
        if (peek().kind() != Kind.LINE && peek().kind() != Kind.END) {
            throw invalid(peek(), "the end of the line is expected before '" + peek().text() + "'.");
        }
    }

    /** Goes to the next word behind ends of lines, where it continues what stands before them. */
    private boolean continuesWith(String sign) {
        int next = at;
        while (words.get(next).kind() == Kind.LINE) {
            next++;
        }
        boolean is = words.get(next).is(sign);
        at = is ? next : at;
        return is;
    }

    // ---- statements ----

    private static boolean isTerminal(String name) {
        String letters = name.replace("_", "");
        return !letters.isEmpty() && letters.equals(letters.toUpperCase(Locale.ROOT)) && !isDigit(letters.charAt(0));
    }

    private static boolean isDigit(char character) {
        return character >= '0' && character <= '9';
    }

    private void rule() {
        boolean isShaped = peek().is("?") || peek().is("!");
        while (peek().is("?") || peek().is("!")) {
            at++;
        }
        Word name = name();
        isInTerminal = isTerminal(name.text());
        if (isInTerminal && isShaped) {
            throw invalid(name, "a terminal has no '?' or '!' before its name.");
        }
        if (peek().is(".")) {
            throw unsupported(peek(), "priorities are");
        }
        if (peek().is("{")) {
            throw unsupported(peek(), "templates are");
        }
        if (peek().is("[")) {
            throw unsupported(peek(), "attributes of rules are");
        }
        expect(":");
        if (rules.containsKey(name.text())) {
            throw invalid(name, "'" + name.text() + "' is defined twice.");
        }
        rules.put(name.text(), choice(false));
        endLine();
    }

    private void directive(Word word) {
        switch (word.text()) {
            case "%ignore" -> {
                isInTerminal = true;
                ignored.add(choice(false));
            }
            case "%import" -> doImport();
            default -> throw unsupported(word, word.text() + " is");
        }
        endLine();
    }

    private void doImport() {
        Word from = peek();
        if (from.is(".") || !name().text().equals("common")) {
            throw unsupported(from, "imports from elsewhere than 'common' are");
        }
        if (takes("(")) {
            do {
                Word name = name();
                put(name, name.text());
            } while (takes(","));
            expect(")");
        } else {
            expect(".");
            Word name = name();
            put(name, takes("->") ? name().text() : name.text());
        }
    }

    private void put(Word name, String as) {
        Expression found = common.get(name.text());
        if (found == null) {
            throw invalid(name, "'common' has no terminal '" + name.text() + "'.");
        }
        if (!isTerminal(as)) {
            throw invalid(name, "a terminal needs a name in capitals.");
        }
        if (rules.putIfAbsent(as, new Reference("common." + name.text())) != null) {
            throw invalid(name, "'" + as + "' is defined twice.");
        }
        common.forEach((each, right) -> rules.putIfAbsent("common." + each, renamed(right)));
    }

    /** The same in the names that imported terminals have. */
    private static Expression renamed(Expression expression) {
        return switch (expression) {
            case Terminal terminal -> terminal;
            case Reference(String rule) -> new Reference("common." + rule);
            case Sequence(List<Expression> parts) -> new Sequence(renamed(parts));
            case Choice(List<Expression> parts) -> new Choice(renamed(parts));
            case Repeat(Expression part, int min, int max) -> new Repeat(renamed(part), min, max);
        };
    }

    private static List<Expression> renamed(List<Expression> parts) {
        return parts.stream().map(LarkReader::renamed).toList();
    }

    // ---- right sides ----

    private Expression choice(boolean isNested) {
        List<Expression> parts = new ArrayList<>();
        do {
            parts.add(sequence(isNested));
            if (takes("->")) {
                if (isInTerminal) {
                    throw invalid(peek(), "terminals have no aliases.");
                }
                name();
            }
        } while (continuesWith("|") && takes("|"));
        return parts.size() == 1 ? parts.getFirst() : new Choice(parts);
    }

    private Expression sequence(boolean isNested) {
        List<Expression> parts = new ArrayList<>();
        while (true) {
            while (isNested && peek().kind() == Kind.LINE) {
                at++;
            }
            Word word = peek();
            boolean isPart = word.kind() == Kind.NAME
                    || word.kind() == Kind.TEXT
                    || word.kind() == Kind.REGEX
                    || word.is("(")
                    || word.is("[");
            if (!isPart) {
                requireKnown(word);
                return parts.size() == 1 ? parts.getFirst() : new Sequence(parts);
            }
            parts.add(repeated(part(take())));
        }
    }

    private void requireKnown(Word word) {
        if (word.is("<") || word.is("@")) {
            throw unsupported(word, "tokens and embedded grammars are");
        }
        if (word.kind() == Kind.DIRECTIVE && at > 0 && words.get(at - 1).kind() != Kind.LINE) {
            throw unsupported(word, word.text() + " is");
        }
        if (word.is("&") || word.is("~")) {
            throw unsupported(word, "'" + word.text() + "' before a part is");
        }
    }

    private Expression part(Word word) {
        return switch (word.kind()) {
            case NAME -> reference(word);
            case TEXT -> terminal(text(word));
            case REGEX -> terminal(regex(word));
            default -> group(word);
        };
    }

    private Expression reference(Word word) {
        asked.putIfAbsent(word.text(), word.offset());
        if (peek().is("{")) {
            throw unsupported(peek(), "templates are");
        }
        boolean isOfTerminal = isTerminal(word.text());
        if (isInTerminal && !isOfTerminal) {
            throw invalid(word, "a terminal cannot refer to the rule '" + word.text() + "'.");
        }
        Expression reference = new Reference(word.text());
        return isOfTerminal ? terminal(reference) : reference;
    }

    /** A terminal; in a rule with what is ignored behind it. */
    private Expression terminal(Expression expression) {
        return isInTerminal ? expression : new Sequence(List.of(expression, new Reference(IGNORED)));
    }

    private Expression group(Word word) {
        if (++nesting > MAX_NESTING) {
            throw LarkScanner.refused(
                    Reason.BUDGET, text, word.offset(), "groups are nested deeper than " + MAX_NESTING + ".");
        }
        Expression inside = choice(true);
        while (peek().kind() == Kind.LINE) {
            at++;
        }
        expect(word.is("(") ? ")" : "]");
        nesting--;
        return word.is("(") ? inside : new Repeat(inside, 0, 1);
    }

    private Expression repeated(Expression part) {
        if (takes("?")) {
            return new Repeat(part, 0, 1);
        }
        if (takes("*")) {
            return new Repeat(part, 0, Integer.MAX_VALUE);
        }
        if (takes("+")) {
            return new Repeat(part, 1, Integer.MAX_VALUE);
        }
        if (!takes("~")) {
            return part;
        }
        Word first = peek();
        int min = number();
        int max = takes("..") ? number() : min;
        if (max < min) {
            throw invalid(first, "a part cannot be repeated at least " + min + " and at most " + max + " times.");
        }
        return new Repeat(part, min, max);
    }

    private int number() {
        Word word = take();
        if (word.kind() != Kind.NUMBER || word.text().length() > 9) {
            throw invalid(word, "a number of at most nine digits is expected before '" + word.text() + "'.");
        }
        return Integer.parseInt(word.text());
    }

    // ---- texts and expressions ----

    private Expression text(Word word) {
        String meant = LarkTexts.unescaped(text, word);
        if (takes("..")) {
            Word last = take();
            String end = last.kind() == Kind.TEXT ? LarkTexts.unescaped(text, last) : "";
            if (meant.codePointCount(0, meant.length()) != 1 || end.codePointCount(0, end.length()) != 1) {
                throw invalid(word, "a range needs a text of one character before and behind '..'.");
            }
            if (end.codePointAt(0) < meant.codePointAt(0)) {
                throw invalid(word, "the range ends before it begins.");
            }
            return new Terminal(languages.symbol(CodePoints.range(meant.codePointAt(0), end.codePointAt(0))));
        }
        if (meant.isEmpty()) {
            throw invalid(word, "a text must not be empty.");
        }
        return word.flags().isEmpty()
                ? new Terminal(languages.text(meant))
                : new Terminal(Regex.whole(languages, "(?i)" + LarkTexts.quoted(meant)));
    }

    private Expression regex(Word word) {
        String flags = word.flags();
        for (int i = 0; i < flags.length(); i++) {
            if ("isu".indexOf(flags.charAt(i)) < 0) {
                throw unsupported(word, "the flag '" + flags.charAt(i) + "' of an expression is");
            }
        }
        String kept = (flags.contains("i") ? "i" : "") + (flags.contains("s") ? "s" : "");
        String prefix = kept.isEmpty() ? "" : "(?" + kept + ")";
        try {
            return new Terminal(Regex.whole(languages, prefix + word.text().replace("\\/", "/")));
        } catch (GrammarException refusal) {
            throw LarkScanner.refused(refusal.reason(), text, word.offset(), String.valueOf(refusal.getMessage()));
        }
    }

    // ---- the whole ----

    private void check() {
        asked.forEach((name, offset) -> {
            if (!rules.containsKey(name)) {
                throw LarkScanner.refused(Reason.INVALID, text, offset, "there is no rule or terminal '" + name + "'.");
            }
        });
        Set<String> regular = new LinkedHashSet<>();
        rules.forEach((name, right) -> {
            if (isTerminal(name)) {
                requireFlat(name, name, new LinkedHashSet<>(), regular);
            }
        });
    }

    /** Refuses terminals that are made of themselves. */
    private void requireFlat(String name, String first, Set<String> open, Set<String> done) {
        if (!open.add(name)) {
            throw LarkScanner.refused(
                    Reason.INVALID,
                    text,
                    asked.getOrDefault(name, 0),
                    "the terminal '" + first + "' is made of itself; only rules can be.");
        }
        if (open.size() > MAX_NESTING) {
            throw new GrammarException(Reason.BUDGET, "terminals are made of others deeper than " + MAX_NESTING + ".");
        }
        Expression right = rules.get(name);
        if (right != null && !done.contains(name)) {
            for (String other : references(right)) {
                requireFlat(other, first, open, done);
            }
        }
        open.remove(name);
        done.add(name);
    }

    private static List<String> references(Expression expression) {
        return switch (expression) {
            case Terminal _ -> List.of();
            case Reference(String rule) -> List.of(rule);
            case Sequence(List<Expression> parts) -> references(parts);
            case Choice(List<Expression> parts) -> references(parts);
            case Repeat(Expression part, int _, int _) -> references(part);
        };
    }

    private static List<String> references(List<Expression> parts) {
        return parts.stream().flatMap(part -> references(part).stream()).toList();
    }
}
