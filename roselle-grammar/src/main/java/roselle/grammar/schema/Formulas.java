package roselle.grammar.schema;

import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.Budget;
import roselle.grammar.regex.Language;
import roselle.grammar.regex.Languages;
import roselle.grammar.regex.Numbers;

/** Makes formulas, interned, in negation normal form. Callers hold the lock of the languages. */
final class Formulas {
    /** What tells formulas apart; parts by identity, as they are interned themselves. */
    @SuppressWarnings("ArrayRecordComponent") // compared by its elements
    private record Key(
            Formula.Kind kind, Formula[] parts, @Nullable Atom atom) {
        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Key key
                    && kind == key.kind
                    && Arrays.equals(parts, key.parts)
                    && Objects.equals(atom, key.atom);
        }

        @Override
        public int hashCode() {
            int hash = kind.name().hashCode() + Objects.hashCode(atom);
            for (Formula part : parts) {
                hash = 31 * hash + part.id;
            }
            return hash;
        }
    }

    private static final Comparator<Formula> BY_ID = Comparator.comparingInt(formula -> formula.id);

    private final Languages languages;
    private final Numbers numbers;
    private boolean hasAlternatives;
    private final Budget budget;
    private final Map<Key, Formula> interned = new HashMap<>();
    private final Formula isTrue;
    private final Formula isFalse;
    private long replacements; // so far, which tells what formulas remember of them apart

    Formulas(Languages languages, Numbers numbers) {
        this.languages = languages;
        this.numbers = numbers;
        this.budget = languages.budget();
        this.isTrue = make(Formula.Kind.TRUE, Formula.NO_PARTS, null);
        this.isFalse = make(Formula.Kind.FALSE, Formula.NO_PARTS, null);
        isTrue.negation = isFalse;
        isFalse.negation = isTrue;
    }

    Languages languages() {
        return languages;
    }

    Numbers numbers() {
        return numbers;
    }

    Budget budget() {
        return budget;
    }

    Formula isTrue() {
        return isTrue;
    }

    Formula isFalse() {
        return isFalse;
    }

    /** Whether there are some alternatives among conditions on objects. */
    boolean hasAlternatives() {
        return hasAlternatives;
    }

    private Formula make(Formula.Kind kind, Formula[] parts, @Nullable Atom atom) {
        budget.spend(2 + parts.length);
        return interned.computeIfAbsent(new Key(kind, parts, atom), key -> {
            budget.keep(2 + parts.length / 8);
            Formula made = new Formula(kind, interned.size(), parts, atom);
            hasAlternatives |= kind == Formula.Kind.OR && (made.conditions & Formula.OF_MEMBERS) != 0;
            return made;
        });
    }

    Formula atom(Atom atom) {
        return switch (atom) {
            case Atom.Types(int set) when set == 0 -> isFalse;
            case Atom.Types(int set) when set == Atom.ALL_TYPES -> isTrue;
            case Atom.Text(ValueType _, Language language, boolean _) when language.isAny() -> isTrue;
            case Atom.MemberCount(long min, long max) when min <= 0 && max == Long.MAX_VALUE -> isTrue;
            case Atom.ItemCount(long min, long max) when min <= 0 && max == Long.MAX_VALUE -> isTrue;
            case Atom.Names(Language keys) when keys.isAny() -> isTrue;
            default -> make(Formula.Kind.ATOM, Formula.NO_PARTS, atom);
        };
    }

    Formula types(int set) {
        return atom(new Atom.Types(set));
    }

    Formula not(Formula formula) {
        Formula known = formula.negation;
        if (known == null) {
            known = switch (formula.kind) {
                case TRUE -> isFalse;
                case FALSE -> isTrue;
                case ATOM ->
                    formula.atom() instanceof Atom.Types(int set)
                            ? types(Atom.ALL_TYPES & ~set)
                            : make(Formula.Kind.NOT_ATOM, Formula.NO_PARTS, formula.atom);
                case NOT_ATOM -> atom(formula.atom());
                case AND -> or(negated(formula.parts));
                case OR -> and(negated(formula.parts));
            };
            formula.negation = known;
            if (known.negation == null) {
                known.negation = formula;
            }
        }
        return known;
    }

    private Formula[] negated(Formula[] parts) {
        Formula[] negated = new Formula[parts.length];
        for (int i = 0; i < parts.length; i++) {
            negated[i] = not(parts[i]);
        }
        return negated;
    }

    Formula and(Formula... parts) {
        return joined(Formula.Kind.AND, parts, isTrue, isFalse);
    }

    Formula or(Formula... parts) {
        return joined(Formula.Kind.OR, parts, isFalse, isTrue);
    }

    Formula and(List<Formula> parts) {
        return and(parts.toArray(Formula[]::new));
    }

    Formula or(List<Formula> parts) {
        return or(parts.toArray(Formula[]::new));
    }

    private Formula joined(Formula.Kind kind, Formula[] parts, Formula neutral, Formula absorbing) {
        if (parts.length == 2) { // the frequent cases, without a map
            if (parts[0] == neutral || parts[0] == parts[1]) {
                return parts[1];
            }
            if (parts[1] == neutral) {
                return parts[0];
            }
        }
        int length = 1;
        for (Formula part : parts) {
            length += part.kind == kind ? part.parts.length : 1;
        }
        Formula[] flat = new Formula[length];
        int size = 0;
        int types = kind == Formula.Kind.AND ? Atom.ALL_TYPES : 0;
        boolean hasTypes = false;
        for (Formula part : parts) {
            for (Formula one : part.kind == kind ? part.parts : new Formula[] {part}) {
                if (one == absorbing) {
                    return absorbing;
                }
                if (one.kind == Formula.Kind.ATOM && one.atom instanceof Atom.Types(int set)) {
                    types = kind == Formula.Kind.AND ? types & set : types | set;
                    hasTypes = true;
                } else if (one != neutral) {
                    flat[size++] = one;
                }
            }
        }
        if (hasTypes) {
            Formula joint = types(types);
            if (joint == absorbing) {
                return absorbing;
            }
            if (joint != neutral) {
                flat[size++] = joint;
            }
        }
        Formula[] sorted = sorted(flat, size);
        for (Formula one : sorted) {
            if (one.negation != null && isAmong(sorted, one.negation)) {
                return absorbing;
            }
        }
        if (sorted.length <= 1) {
            return sorted.length == 0 ? neutral : sorted[0];
        }
        Formula @Nullable [] simpler = withoutDecided(kind, sorted, neutral);
        return simpler == null ? make(kind, sorted, null) : joined(kind, simpler, neutral, absorbing);
    }

    /**
     * Parts of a kind without what other parts decide on: of {@code a and (not a or b)} {@code b} is left of the second, and nothing of
     * {@code a and (a or b)} (unit propagation and absorption, for single conditions alone). Null where they stay as they are.
     */
    private Formula @Nullable [] withoutDecided(Formula.Kind kind, Formula[] sorted, Formula neutral) {
        Formula.Kind within = kind == Formula.Kind.AND ? Formula.Kind.OR : Formula.Kind.AND;
        Formula @Nullable [] done = null;
        for (int i = 0; i < sorted.length; i++) {
            Formula left = sorted[i].kind == within ? undecided(sorted[i], sorted, neutral) : sorted[i];
            if (left != sorted[i]) {
                done = done == null ? sorted.clone() : done;
                done[i] = left;
            }
        }
        return done;
    }

    /** What is left of a part beside others. */
    private Formula undecided(Formula formula, Formula[] others, Formula neutral) {
        Formula[] left = new Formula[formula.parts.length];
        int size = 0;
        for (Formula part : formula.parts) {
            boolean isSingle = part.kind == Formula.Kind.ATOM || part.kind == Formula.Kind.NOT_ATOM;
            if (isSingle && isAmong(others, part)) {
                return neutral;
            }
            if (!isSingle || part.negation == null || !isAmong(others, part.negation)) {
                left[size++] = part;
            }
        }
        if (size == left.length) {
            return formula;
        }
        Formula[] kept = Arrays.copyOf(left, size);
        return formula.kind == Formula.Kind.AND ? and(kept) : or(kept);
    }

    /** Whether a formula is among some that are sorted. */
    private static boolean isAmong(Formula[] sorted, Formula formula) {
        int from = 0;
        int to = sorted.length;
        while (from < to) {
            int middle = (from + to) >>> 1;
            if (sorted[middle].id < formula.id) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        return from < sorted.length && sorted[from].id == formula.id;
    }

    /** The first of some formulas by their ids, each once. */
    @SuppressWarnings("ReferenceEquality") // interned
    private static Formula[] sorted(Formula[] flat, int size) {
        Arrays.sort(flat, 0, size, BY_ID);
        int kept = 0;
        for (int i = 0; i < size; i++) {
            if (kept == 0 || flat[kept - 1] != flat[i]) {
                flat[kept++] = flat[i];
            }
        }
        return Arrays.copyOf(flat, kept);
    }

    /** What is left of a formula for values of one type. */
    @SuppressWarnings("EnumOrdinal") // an index into a table of this process, never stored
    Formula forType(Formula formula, ValueType type) {
        Formula known = formula.byType[type.ordinal()];
        if (known == null) {
            known = switch (formula.kind) {
                case TRUE, FALSE -> formula;
                case ATOM -> atomFor(formula, type);
                case NOT_ATOM -> not(forType(not(formula), type));
                case AND -> and(forType(formula.parts, type));
                case OR -> or(forType(formula.parts, type));
            };
            formula.byType[type.ordinal()] = known;
        }
        return known;
    }

    private Formula[] forType(Formula[] parts, ValueType type) {
        Formula[] left = new Formula[parts.length];
        for (int i = 0; i < left.length; i++) {
            left[i] = forType(parts[i], type);
        }
        return left;
    }

    private Formula atomFor(Formula formula, ValueType type) {
        return switch (formula.atom()) {
            case Atom.Types(int set) -> typesFor(set, type);
            case Atom.Text text -> text.type() == type ? formula : isTrue;
            case Atom.Members _, Atom.Has _, Atom.MemberCount _, Atom.Names _ ->
                type == ValueType.OBJECT ? formula : isTrue;
            case Atom.Items _, Atom.ItemCount _, Atom.Contains _, Atom.Unique _ ->
                type == ValueType.ARRAY ? formula : isTrue;
        };
    }

    private Formula typesFor(int set, ValueType type) {
        int bits = switch (type) {
            case NULL -> Atom.NULL;
            case TRUE -> Atom.TRUE;
            case FALSE -> Atom.FALSE;
            case NUMBER -> Atom.INTEGER | Atom.FRACTION;
            case STRING -> Atom.STRING;
            case ARRAY -> Atom.ARRAY;
            case OBJECT -> Atom.OBJECT;
        };
        if ((set & bits) == bits) {
            return isTrue;
        }
        if ((set & bits) == 0) {
            return isFalse;
        }
        Formula whole = atom(new Atom.Text(ValueType.NUMBER, numbers.integers(), false));
        return (set & Atom.INTEGER) != 0 ? whole : not(whole);
    }

    /** The texts of strings, or the spellings of numbers, that meet a formula. */
    Language language(Formula formula, ValueType type) {
        Formula left = forType(formula, type);
        if (type == ValueType.STRING) {
            return language(left);
        }
        if (left.isTrue()) {
            return numbers.full();
        }
        return languages.and(spellings(left), language(left));
    }

    private Language spellings(Formula formula) {
        if (isWholeOnly(formula)) {
            return numbers.wholeSpellings();
        }
        return isPlainOnly(formula) ? numbers.plain() : numbers.normal();
    }

    /** Whether the formula itself says that its numbers are integers. */
    private boolean isWholeOnly(Formula formula) {
        Boolean known = formula.isWholeOnly;
        if (known == null) {
            known = switch (formula.kind) {
                case TRUE, FALSE, NOT_ATOM -> false;
                case ATOM -> ((Atom.Text) formula.atom()).language().equals(numbers.integers());
                case AND -> Arrays.stream(formula.parts).anyMatch(this::isWholeOnly);
                case OR -> Arrays.stream(formula.parts).allMatch(this::isWholeOnly);
            };
            formula.isWholeOnly = known;
        }
        return known;
    }

    private boolean isPlainOnly(Formula formula) {
        Boolean known = formula.isPlainOnly;
        if (known == null) {
            known = formula.atom instanceof Atom.Text text
                    ? text.isPlainOnly()
                    : Arrays.stream(formula.parts).anyMatch(this::isPlainOnly);
            formula.isPlainOnly = known;
        }
        return known;
    }

    /** Texts of which each value that meets a formula is one, where its expression shows some; else null. */
    @Nullable
    Collection<String> texts(Formula formula) {
        boolean isText = false;
        Collection<String> texts = null;
        for (Formula part : formula.kind == Formula.Kind.AND ? formula.parts : Formula.NO_PARTS) {
            if (part.kind == Formula.Kind.ATOM && part.atom instanceof Atom.Types(int set)) {
                isText = set == Atom.STRING;
            } else if (part.kind == Formula.Kind.ATOM
                    && part.atom instanceof Atom.Text text
                    && text.type() == ValueType.STRING) {
                Collection<String> its = text.language().texts();
                texts = its == null ? texts : its;
            }
        }
        return isText ? texts : null;
    }

    private Language language(Formula formula) {
        Language known = formula.language;
        if (known == null) {
            known = languageHere(formula);
            formula.language = known;
        }
        return known;
    }

    private Language languageHere(Formula formula) {
        return switch (formula.kind) {
            case TRUE -> languages.any();
            case FALSE -> languages.empty();
            case ATOM -> ((Atom.Text) formula.atom()).language();
            case NOT_ATOM -> languages.not(((Atom.Text) formula.atom()).language());
            case AND -> languages.and(languagesOf(formula.parts));
            case OR -> languages.or(languagesOf(formula.parts));
        };
    }

    private Language[] languagesOf(Formula[] parts) {
        Language[] all = new Language[parts.length];
        for (int i = 0; i < parts.length; i++) {
            all[i] = language(parts[i]);
        }
        return all;
    }

    /** Formulas with each of their conditions of some kinds replaced. */
    Formula[] replaced(Formula[] goals, int kinds, Function<Formula, Formula> ofAtom) {
        long number = ++replacements;
        Formula[] left = new Formula[goals.length];
        for (int i = 0; i < goals.length; i++) {
            left[i] = replaced(goals[i], kinds, ofAtom, number);
        }
        return left;
    }

    private Formula replaced(Formula formula, int kinds, Function<Formula, Formula> ofAtom, long number) {
        if ((formula.conditions & kinds) == 0) {
            return formula;
        }
        if (formula.replacedIn == number) {
            return Objects.requireNonNull(formula.replacement);
        }
        Formula done = formula.kind == Formula.Kind.ATOM
                ? ofAtom.apply(formula)
                : replacedWithin(formula, kinds, ofAtom, number);
        formula.replacedIn = number;
        formula.replacement = done;
        return done;
    }

    /** The same of one that has parts; most stay as they are. */
    @SuppressWarnings("ReferenceEquality") // interned
    private Formula replacedWithin(Formula formula, int kinds, Function<Formula, Formula> ofAtom, long number) {
        if (formula.kind == Formula.Kind.NOT_ATOM) {
            Formula atom = not(formula);
            Formula done = replaced(atom, kinds, ofAtom, number);
            return done == atom ? formula : not(done);
        }
        Formula[] parts = formula.parts;
        Formula[] done = parts;
        for (int i = 0; i < parts.length; i++) {
            Formula part = replaced(parts[i], kinds, ofAtom, number);
            if (part != parts[i] && done == parts) {
                done = parts.clone();
            }
            done[i] = part;
        }
        return done == parts ? formula : formula.kind == Formula.Kind.AND ? and(done) : or(done);
    }
}
