package roselle.grammar.ebnf;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.GrammarException;
import roselle.grammar.automaton.GrammarException.Reason;
import roselle.grammar.ebnf.Expression.Choice;
import roselle.grammar.ebnf.Expression.Reference;
import roselle.grammar.ebnf.Expression.Repeat;
import roselle.grammar.ebnf.Expression.Sequence;
import roselle.grammar.ebnf.Expression.Terminal;
import roselle.grammar.regex.Language;
import roselle.grammar.regex.Languages;

/**
 * Rules as alternatives of terminals and nonterminals. What is not recursive is regular and becomes one terminal, however large: then
 * few places of a text need the stack, and masks come from walks through languages.
 */
final class Grammar {
    /** A part of an alternative. */
    sealed interface Symbol {}

    record Text(Language language) implements Symbol {}

    /** What a rule derives; compared by identity. */
    static final class Nonterminal implements Symbol {
        List<List<Symbol>> alternatives = new ArrayList<>();
        boolean isNullable;
        boolean isProductive;
    }

    private static final int MAX_DEPTH = 1000;

    private final Languages languages;
    private final Map<String, Expression> rules;
    private final Map<String, Language> regular = new HashMap<>();
    private final Map<String, Boolean> isRecursive = new HashMap<>();
    private final Map<String, Nonterminal> nonterminals = new HashMap<>();
    private final List<Nonterminal> all = new ArrayList<>();
    private int depth;

    private Grammar(Languages languages, Map<String, Expression> rules) {
        this.languages = languages;
        this.rules = rules;
    }

    /** The nonterminal of a rule, from which everything else is reached. */
    static Nonterminal of(Languages languages, Map<String, Expression> rules, String start) {
        if (!rules.containsKey(start)) {
            throw new GrammarException(Reason.INVALID, "the grammar has no rule '" + start + "'.");
        }
        Grammar grammar = new Grammar(languages, rules);
        for (Expression right : rules.values()) {
            grammar.check(right);
        }
        Nonterminal whole = grammar.made(new Reference(start));
        grammar.prune();
        if (!whole.isProductive) {
            throw new GrammarException(Reason.EMPTY, "no text belongs to the grammar.");
        }
        return whole;
    }

    private void check(Expression expression) {
        switch (expression) {
            case Terminal _ -> {}
            case Reference(String rule) -> {
                if (!rules.containsKey(rule)) {
                    throw new GrammarException(Reason.INVALID, "the grammar has no rule '" + rule + "'.");
                }
            }
            case Sequence(List<Expression> parts) -> parts.forEach(this::check);
            case Choice(List<Expression> parts) -> parts.forEach(this::check);
            case Repeat(Expression part, int _, int _) -> check(part);
        }
    }

    private void enter() {
        languages.budget().spend(4);
        if (++depth > MAX_DEPTH) {
            throw new GrammarException(Reason.BUDGET, "the grammar is nested too deep.");
        }
    }

    /** Whether a rule reaches itself, or one that does. */
    private boolean isRecursive(String rule) {
        Boolean known = isRecursive.get(rule);
        if (known == null) {
            isRecursive.put(rule, true); // if asked again on the way, it is
            enter();
            known = isRecursive(rules.get(rule));
            depth--;
            isRecursive.put(rule, known);
        }
        return known;
    }

    private boolean isRecursive(@Nullable Expression expression) {
        return switch (expression) {
            case null -> false;
            case Terminal _ -> false;
            case Reference(String rule) -> isRecursive(rule);
            case Sequence(List<Expression> parts) -> parts.stream().anyMatch(this::isRecursive);
            case Choice(List<Expression> parts) -> parts.stream().anyMatch(this::isRecursive);
            case Repeat(Expression part, int _, int _) -> isRecursive(part);
        };
    }

    // ---- what is regular ----

    private Language language(Expression expression) {
        enter();
        Language found = switch (expression) {
            case Terminal(Language language) -> language;
            case Reference(String rule) -> ruleLanguage(rule);
            case Sequence(List<Expression> parts) -> languages.concat(languages(parts));
            case Choice(List<Expression> parts) -> languages.or(languages(parts));
            case Repeat(Expression part, int min, int max) -> languages.repeat(language(part), min, max);
        };
        depth--;
        return found;
    }

    private Language ruleLanguage(String rule) {
        Language known = regular.get(rule);
        if (known == null) {
            known = language(rules.getOrDefault(rule, new Choice(List.of())));
            regular.put(rule, known);
        }
        return known;
    }

    private Language[] languages(List<Expression> parts) {
        return parts.stream().map(this::language).toArray(Language[]::new);
    }

    // ---- what is not ----

    private Nonterminal made(Expression expression) {
        Nonterminal made = new Nonterminal();
        languages.budget().keep(4);
        all.add(made);
        addAlternatives(expression, made);
        return made;
    }

    private void addAlternatives(Expression expression, Nonterminal to) {
        if (!isRecursive(expression)) {
            to.alternatives.add(List.of(new Text(language(expression))));
            return;
        }
        enter();
        if (expression instanceof Choice(List<Expression> parts)) {
            List<Expression> plain =
                    parts.stream().filter(part -> !isRecursive(part)).toList();
            if (!plain.isEmpty()) {
                addAlternatives(new Choice(plain), to);
            }
            parts.stream().filter(this::isRecursive).forEach(part -> addAlternatives(part, to));
        } else {
            List<Symbol> symbols = new ArrayList<>();
            append(expression, symbols);
            to.alternatives.add(symbols);
        }
        depth--;
    }

    private void append(Expression expression, List<Symbol> to) {
        if (!isRecursive(expression)) {
            Language language = language(expression);
            if (!to.isEmpty() && to.getLast() instanceof Text(Language before)) {
                to.removeLast();
                language = languages.concat(before, language);
            }
            to.add(new Text(language));
            return;
        }
        enter();
        switch (expression) {
            case Terminal _ -> throw new AssertionError(expression);
            case Reference(String rule) -> to.add(nonterminal(rule));
            case Sequence(List<Expression> parts) -> parts.forEach(part -> append(part, to));
            case Choice _ -> to.add(made(expression));
            case Repeat(Expression part, int min, int max) -> appendRepeated(made(part), min, max, to);
        }
        depth--;
    }

    private Nonterminal nonterminal(String rule) {
        Nonterminal known = nonterminals.get(rule);
        if (known == null) {
            known = new Nonterminal();
            languages.budget().keep(4);
            all.add(known);
            nonterminals.put(rule, known);
            Expression right = rules.get(rule);
            if (right != null) {
                addAlternatives(right, known);
            }
        }
        return known;
    }

    private void appendRepeated(Nonterminal part, int min, int max, List<Symbol> to) {
        languages.budget().spend(min);
        languages.budget().keep(1 + min / 8);
        for (int i = 0; i < min; i++) {
            to.add(part);
        }
        if (max == Integer.MAX_VALUE) {
            Nonterminal loop = new Nonterminal(); // nothing, or the loop and once more: its states recur
            loop.alternatives.add(List.of());
            loop.alternatives.add(List.of(loop, part));
            all.add(loop);
            to.add(loop);
            return;
        }
        Nonterminal rest = null;
        for (int i = min; i < max; i++) {
            Nonterminal once = new Nonterminal();
            languages.budget().spend(1);
            languages.budget().keep(4);
            once.alternatives.add(List.of());
            once.alternatives.add(rest == null ? List.of(part) : List.of(part, rest));
            all.add(once);
            rest = once;
        }
        if (rest != null) {
            to.add(rest);
        }
    }

    /** Finds what derives nothing, and drops alternatives that cannot be completed. */
    private void prune() {
        boolean isChanged = true;
        while (isChanged) {
            isChanged = false;
            for (Nonterminal one : all) {
                for (List<Symbol> alternative : one.alternatives) {
                    languages.budget().spend(1 + alternative.size());
                    boolean isProductive = alternative.stream().allMatch(this::isProductive);
                    boolean isNullable = alternative.stream().allMatch(Grammar::isNullable);
                    isChanged |= (isProductive && !one.isProductive) || (isNullable && !one.isNullable);
                    one.isProductive |= isProductive;
                    one.isNullable |= isNullable;
                }
            }
        }
        for (Nonterminal one : all) {
            one.alternatives = one.alternatives.stream()
                    .filter(alternative -> alternative.stream().allMatch(this::isProductive))
                    .toList();
        }
    }

    private boolean isProductive(Symbol symbol) {
        return switch (symbol) {
            case Text(Language language) -> languages.isLive(language);
            case Nonterminal nonterminal -> nonterminal.isProductive;
        };
    }

    static boolean isNullable(Symbol symbol) {
        return switch (symbol) {
            case Text(Language language) -> language.isNullable();
            case Nonterminal nonterminal -> nonterminal.isNullable;
        };
    }

    /** Positions between the symbols of all alternatives. */
    record Position(Nonterminal left, List<Symbol> alternative, int at) {
        @Override
        @SuppressWarnings("ReferenceEquality") // alternatives are told apart by identity
        public boolean equals(@Nullable Object other) {
            return other instanceof Position position
                    && alternative == position.alternative
                    && at == position.at
                    && left == position.left;
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(new int[] {System.identityHashCode(left), System.identityHashCode(alternative), at});
        }

        boolean isEnd() {
            return at == alternative.size();
        }

        Symbol next() {
            return alternative.get(at);
        }

        Position behind() {
            return new Position(left, alternative, at + 1);
        }
    }
}
