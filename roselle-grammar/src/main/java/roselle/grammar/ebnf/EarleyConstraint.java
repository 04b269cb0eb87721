package roselle.grammar.ebnf;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.Constraint;
import roselle.grammar.automaton.Lexeme;
import roselle.grammar.automaton.State;
import roselle.grammar.ebnf.Grammar.Nonterminal;
import roselle.grammar.ebnf.Grammar.Position;
import roselle.grammar.ebnf.Grammar.Text;
import roselle.grammar.regex.Languages;
import roselle.grammar.regex.TextLexeme;

/**
 * The texts that a context-free grammar derives, ambiguous and left-recursive ones, too.
 *
 * <p>A state is a set of Earley's algorithm. An item is a place in an alternative, with the set in which its rule began; sets are
 * reached through items, so the stack of a text is a graph of sets. A set is known by the items that come from outside: what it
 * predicts follows from them. Where a rule is the last symbol of another, its end is that one's end, and the set refers to the
 * outermost at once (as Leo's algorithm does): right recursion neither grows the stack nor makes new sets, as left recursion does not.
 */
public final class EarleyConstraint implements Constraint {
    private static final Object NOTHING = new Object();

    private final Languages languages;
    private final Nonterminal whole;
    private final Map<Key, Items> interned = new HashMap<>();
    private final Items start;

    /** The texts of one rule. */
    public EarleyConstraint(Languages languages, Map<String, Expression> rules, String rule) {
        this.languages = languages;
        synchronized (languages.lock()) {
            this.whole = Grammar.of(languages, rules, rule);
            Builder first = new Builder();
            first.wait(new Waiting(whole, null, null));
            first.isAccepting = whole.isNullable;
            this.start = first.items();
        }
    }

    @Override
    public State start() {
        return start;
    }

    /** A terminal that has been begun or may begin; a null origin is the set itself. */
    private record Item(
            Position position, TextLexeme lexeme, @Nullable Items origin) {}

    /** Where a rule's end leads: on behind it in an alternative that began in a set; with no position, to the end of the text. */
    private record Waiting(
            Nonterminal rule,
            @Nullable Position behind,
            @Nullable Items origin) {}

    /** A rule whose end is the end of another, which began in a set. */
    private record Tail(
            Nonterminal rule, Nonterminal outer, @Nullable Items origin) {}

    private record Key(Set<Item> items, Set<Waiting> waiting, Set<Tail> tails, boolean isAccepting) {}

    /** A place behind a symbol, to go on from. */
    private record Step(Position position, @Nullable Items origin) {}

    /** Collects one set. */
    private final class Builder {
        private final Set<Item> items = new LinkedHashSet<>();
        private final Set<Waiting> waiting = new LinkedHashSet<>();
        private final Set<Tail> tails = new LinkedHashSet<>();
        private final Deque<Step> open = new ArrayDeque<>();
        private final Set<Step> seen = new HashSet<>();
        private final Set<Tail> completed = new HashSet<>();
        private boolean isAccepting;

        void add(Position position, @Nullable Items origin) {
            Step step = new Step(position, origin);
            if (seen.add(step)) {
                languages.budget().spend(4);
                open.add(step);
            }
        }

        void wait(Waiting one) {
            waiting.add(one);
        }

        void add(Item item) {
            items.add(item);
        }

        /** Goes on from all places until terminals are reached. */
        void close() {
            while (!open.isEmpty()) {
                Step step = open.remove();
                Position position = step.position();
                if (position.isEnd()) {
                    if (step.origin() != null) { // of rules that began here the nullable have been passed at once
                        complete(position.left(), step.origin());
                    }
                    continue;
                }
                Position behind = position.behind();
                switch (position.next()) {
                    case Text(var language) -> {
                        TextLexeme lexeme = TextLexeme.of(languages, language, TextLexeme.Spelling.RAW);
                        if (lexeme != null && !lexeme.isComplete()) {
                            add(new Item(position, lexeme, step.origin()));
                        }
                    }
                    case Nonterminal rule -> {
                        if (behind.isEnd()) {
                            addTail(rule, position.left(), step.origin());
                        } else {
                            wait(new Waiting(rule, behind, step.origin()));
                        }
                    }
                }
                if (Grammar.isNullable(position.next())) {
                    add(behind, step.origin());
                }
            }
        }

        private void addTail(Nonterminal rule, Nonterminal outer, @Nullable Items origin) {
            Nonterminal to = outer;
            Items from = origin;
            if (from != null) {
                Tail only = from.onlyTail(to);
                if (only != null) { // its own target is an outermost one
                    to = only.outer();
                    from = only.origin() == null ? from : only.origin();
                }
            }
            if (rule != to || from != null) {
                tails.add(new Tail(rule, to, from));
            }
        }

        /** Goes on behind a rule that began in a set, now that it has ended. */
        private void complete(Nonterminal rule, Items origin) {
            Deque<Tail> ended = new ArrayDeque<>();
            ended.add(new Tail(rule, rule, origin));
            while (!ended.isEmpty()) {
                Tail one = ended.remove();
                Items from = one.origin() == null ? origin : one.origin();
                if (!completed.add(new Tail(one.outer(), one.outer(), from))) {
                    continue;
                }
                languages.budget().spend(4);
                for (Waiting waits : from.waitingFor(one.outer())) {
                    if (waits.behind() == null) {
                        isAccepting = true;
                    } else {
                        add(waits.behind(), waits.origin() == null ? from : waits.origin());
                    }
                }
                for (Tail tail : from.tailsOf(one.outer())) {
                    ended.add(new Tail(tail.outer(), tail.outer(), tail.origin() == null ? from : tail.origin()));
                }
            }
        }

        /** The set, which is made if it is not known; null if nothing goes on and the text may not end. */
        Items items() {
            close();
            Key key = new Key(items, waiting, tails, isAccepting);
            Items known = interned.get(key);
            if (known == null) {
                languages.budget().keep(6 + 2L * (items.size() + waiting.size() + tails.size()));
                Builder all = new Builder();
                all.items.addAll(items);
                all.waiting.addAll(waiting);
                all.tails.addAll(tails);
                all.predict();
                languages.budget().keep(2L * (all.items.size() + all.waiting.size() + all.tails.size()));
                known = new Items(all, isAccepting);
                interned.put(key, known);
            }
            return known;
        }

        private void predict() {
            Set<Nonterminal> predicted = new LinkedHashSet<>();
            int before = -1;
            while (before != predicted.size()) {
                before = predicted.size();
                List<Nonterminal> wanted = new ArrayList<>();
                waiting.forEach(one -> wanted.add(one.rule()));
                tails.forEach(one -> wanted.add(one.rule()));
                for (Nonterminal rule : wanted) {
                    if (predicted.add(rule)) {
                        rule.alternatives.forEach(alternative -> add(new Position(rule, alternative, 0), null));
                    }
                }
                close();
            }
        }

        boolean isDead() {
            return items.isEmpty() && waiting.isEmpty() && tails.isEmpty() && !isAccepting;
        }
    }

    /** One set as a state. */
    private final class Items implements State {
        private final Item[] items;
        private final boolean isAccepting;
        private final Map<Nonterminal, List<Waiting>> waiting = new LinkedHashMap<>();
        private final Map<Nonterminal, List<Tail>> tails = new HashMap<>();
        private final @Nullable Object[] left; // by branch; null if not asked
        private volatile @Nullable Object @Nullable [] next; // by octet; null if not asked

        Items(Builder built, boolean isAccepting) {
            this.items = built.items.toArray(Item[]::new);
            this.left = new Object[items.length];
            this.isAccepting = isAccepting;
            built.waiting.forEach(one -> waiting.computeIfAbsent(one.rule(), rule -> new ArrayList<>())
                    .add(one));
            built.tails.forEach(one ->
                    tails.computeIfAbsent(one.rule(), rule -> new ArrayList<>()).add(one));
        }

        List<Waiting> waitingFor(Nonterminal rule) {
            return waiting.getOrDefault(rule, List.of());
        }

        List<Tail> tailsOf(Nonterminal rule) {
            return tails.getOrDefault(rule, List.of());
        }

        /** The one thing that a rule's end leads to, if that is another rule's end. */
        @Nullable
        Tail onlyTail(Nonterminal rule) {
            List<Tail> all = tailsOf(rule);
            return all.size() == 1 && waitingFor(rule).isEmpty() ? all.getFirst() : null;
        }

        private Items originOf(Item item) {
            return item.origin() == null ? this : item.origin();
        }

        @Override
        @SuppressWarnings("ReferenceEquality") // a mark
        public @Nullable State advance(int octet) {
            Object[] known = next;
            Object target = known == null ? null : known[octet];
            if (target == null) {
                synchronized (languages.lock()) {
                    languages.budget().refill();
                    target = compute(octet);
                    if (known == null) {
                        languages.budget().keep(10);
                        known = next == null ? new Object[256] : Objects.requireNonNull(next);
                        next = known;
                    }
                    known[octet] = target;
                }
            }
            return target == NOTHING ? null : (State) target;
        }

        private Object compute(int octet) {
            Builder built = new Builder();
            for (Item item : items) {
                TextLexeme behind = item.lexeme().next(octet);
                if (behind != null && !behind.isComplete()) {
                    built.add(new Item(item.position(), behind, originOf(item)));
                }
                if (behind != null && behind.mayEnd()) {
                    built.add(item.position().behind(), originOf(item));
                }
            }
            built.close();
            return built.isDead() ? NOTHING : built.items();
        }

        @Override
        public boolean isAccepting() {
            return isAccepting;
        }

        @Override
        public int branches() {
            return items.length;
        }

        @Override
        public Lexeme lexeme(int branch) {
            return items[branch].lexeme();
        }

        @Override
        @SuppressWarnings("ReferenceEquality") // a mark
        public @Nullable State leave(int branch, Lexeme end) {
            Object target = left[branch];
            if (target == null) {
                Item item = items[branch];
                synchronized (languages.lock()) {
                    languages.budget().refill();
                    Builder built = new Builder();
                    built.add(item.position().behind(), originOf(item));
                    built.close();
                    target = built.isDead() ? NOTHING : built.items();
                    left[branch] = target;
                }
            }
            return target == NOTHING ? null : (State) target;
        }
    }
}
