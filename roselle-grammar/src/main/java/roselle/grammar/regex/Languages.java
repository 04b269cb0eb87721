package roselle.grammar.regex;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.Budget;
import roselle.grammar.automaton.GrammarException;
import roselle.grammar.regex.Language.Kind;

/**
 * Makes languages, interned, and derives them. Callers hold {@link #lock()} whenever several threads may come.
 *
 * <p>Expressions are kept small by the laws of or, and, not and concatenation alone. That is enough for finitely many derivatives, and
 * cheap. A derivative from which no text can be completed is replaced by {@link #empty()}: a search finds out for expressions with
 * intersection or complement, all others are live as they stand.
 */
public final class Languages {
    private static final Language[] NO_PARTS = {};
    private static final Comparator<Language> BY_ID = Comparator.comparingInt(language -> language.id);
    static final int MAX_DEPTH = 1200;
    private static final byte LIVE = 1;
    private static final byte DEAD = 2;
    private static final byte IN_QUESTION = 3;

    private final Budget budget;
    private final Map<LanguageKey, Language> interned = new HashMap<>();
    private int depth;
    private final Language empty;
    private final Language epsilon;
    private final Language any;

    public Languages(Budget budget) {
        this.budget = budget;
        this.empty = make(Kind.EMPTY, NO_PARTS, null, 0, 0, false);
        this.epsilon = make(Kind.EPSILON, NO_PARTS, null, 0, 0, true);
        this.any = make(Kind.ANY, NO_PARTS, null, 0, 0, true);
    }

    /** What guards everything that is built lazily of these languages. */
    public Object lock() {
        return this;
    }

    public Budget budget() {
        return budget;
    }

    public Language empty() {
        return empty;
    }

    public Language epsilon() {
        return epsilon;
    }

    public Language any() {
        return any;
    }

    public Language symbol(CodePoints set) {
        return set.isEmpty() ? empty : make(Kind.SYMBOL, NO_PARTS, set, 0, 0, false);
    }

    /** Exactly this text. */
    public Language text(String text) {
        budget.keep(1);
        Literals.Texts one = new Literals.Texts(
                new String[] {text}, new int[][] {text.codePoints().toArray()});
        return literals(new Literals(one, 0, 1, 0, null));
    }

    /** Exactly these texts; {@link Language#completed} tells which has been read. */
    public Language literals(Collection<String> texts) {
        if (texts.isEmpty()) {
            return empty;
        }
        budget.keep(texts.size());
        Literals.Texts sorted = Literals.Texts.of(texts);
        return literals(new Literals(sorted, 0, sorted.spelled.length, 0, null));
    }

    /** Those of some {@link #literals} that are not among others; what it shares with the whole is the same object. */
    public Language without(Language literals, Collection<String> gone) {
        if (!(literals.payload instanceof Literals all) || gone.isEmpty()) {
            return literals;
        }
        BitSet indices = new BitSet(all.to());
        for (String text : gone) {
            Integer index = all.texts().index.get(text);
            if (index != null) {
                indices.set(index);
            }
        }
        budget.spend(1 + gone.size() / 8);
        return literals(Literals.of(all.texts(), all.from(), all.to(), all.depth(), indices));
    }

    /** What is behind one of the texts of a language that has a list of them. */
    Language end(Language language, int which) {
        Literals some = (Literals) Objects.requireNonNull(language.payload);
        int length = some.texts().codePoints[which].length;
        return literals(new Literals(some.texts(), which, which + 1, length, null));
    }

    Language literals(@Nullable Literals literals) {
        return literals == null ? empty : make(Kind.LITERALS, NO_PARTS, literals, 0, 0, literals.endsHere());
    }

    public Language length(int min, int max) {
        if (min > max || max < 0) {
            return empty;
        }
        return min <= 0 && max == Language.UNBOUNDED
                ? any
                : make(Kind.LENGTH, NO_PARTS, null, Math.max(0, min), max, min <= 0);
    }

    public Language machine(@Nullable Machine state) {
        return state == null ? empty : make(Kind.MACHINE, NO_PARTS, state, 0, 0, state.isFinal());
    }

    public Language concat(Language first, Language second) {
        if (first.isEmpty() || second.isEmpty()) {
            return empty;
        }
        if (first == epsilon) {
            return second;
        }
        if (second == epsilon) {
            return first;
        }
        if (second == any && first.isNullable) {
            return any;
        }
        if (first.kind == Kind.CONCAT) {
            return concat(first.parts[0], concat(first.parts[1], second));
        }
        return make(Kind.CONCAT, new Language[] {first, second}, null, 0, 0, first.isNullable && second.isNullable);
    }

    public Language concat(Language... parts) {
        Language all = epsilon;
        for (int i = parts.length - 1; i >= 0; i--) {
            all = concat(parts[i], all);
        }
        return all;
    }

    /** A part between min and max times; a max of {@link Integer#MAX_VALUE} has no bound. */
    public Language repeat(Language part, int min, int max) {
        if (max == 0 || part == epsilon) {
            return epsilon;
        }
        if (part.isEmpty()) {
            return min == 0 ? epsilon : empty;
        }
        if (min == 1 && max == 1) {
            return part;
        }
        if (part == any) {
            return any;
        }
        if (part.kind == Kind.SYMBOL && Objects.equals(part.payload, CodePoints.ALL)) {
            return length(min, max);
        }
        if (min == 0 && max == 1) {
            return part.isNullable ? part : or(epsilon, part); // one form for both ways to say so
        }
        int least = part.isNullable ? 0 : min;
        return make(Kind.REPEAT, new Language[] {part}, null, least, max, least == 0);
    }

    public Language not(Language part) {
        if (part == empty) {
            return any;
        }
        if (part == any) {
            return empty;
        }
        if (part.kind == Kind.NOT) {
            return part.parts[0];
        }
        if (part.kind == Kind.LENGTH) {
            Language longer = part.max == Language.UNBOUNDED ? empty : length(part.max + 1, Language.UNBOUNDED);
            return or(length(0, part.min - 1), longer);
        }
        return make(Kind.NOT, new Language[] {part}, null, 0, 0, !part.isNullable);
    }

    public Language or(Language... parts) {
        if (parts.length == 2 && (parts[0] == parts[1] || parts[1] == empty)) { // the frequent cases
            return parts[0];
        }
        if (parts.length == 2 && parts[0] == empty) {
            return parts[1];
        }
        List<Language> flat = new ArrayList<>();
        CodePoints symbols = CodePoints.NONE;
        for (Language part : flatten(Kind.OR, parts)) {
            if (part == any) {
                return any;
            } else if (part.kind == Kind.SYMBOL) {
                symbols = symbols.or((CodePoints) Objects.requireNonNull(part.payload));
            } else if (part != empty) {
                flat.add(part);
            }
        }
        if (!symbols.isEmpty()) {
            flat.add(symbol(symbols));
        }
        if (flat.size() > 1) {
            Beginnings.simplify(flat);
        }
        return joined(Kind.OR, flat, empty, any);
    }

    public Language and(Language... parts) {
        if (parts.length == 2 && (parts[0] == parts[1] || parts[1] == any || parts[0] == empty)) {
            return parts[0];
        }
        if (parts.length == 2 && (parts[0] == any || parts[1] == empty)) {
            return parts[1];
        }
        List<Language> flat = new ArrayList<>();
        int min = 0;
        int max = Language.UNBOUNDED;
        for (Language part : Literals.joined(this, flatten(Kind.AND, parts))) {
            if (part == empty) {
                return empty;
            } else if (part.kind == Kind.LENGTH) {
                min = Math.max(min, part.min);
                max = Math.min(max, part.max);
            } else if (part != any) {
                flat.add(part);
            }
        }
        Language length = length(min, max);
        if (length == empty) {
            return empty;
        }
        if (length != any) {
            flat.add(length);
        }
        return joined(Kind.AND, flat, any, empty);
    }

    private static List<Language> flatten(Kind kind, Language[] parts) {
        List<Language> flat = new ArrayList<>(parts.length);
        for (Language part : parts) {
            if (part.kind == kind) {
                flat.addAll(Arrays.asList(part.parts));
            } else {
                flat.add(part);
            }
        }
        return flat;
    }

    private Language joined(Kind kind, List<Language> parts, Language neutral, Language absorbing) {
        Language[] sorted = parts.toArray(Language[]::new);
        if (sorted.length > 1) {
            Arrays.sort(sorted, BY_ID);
        }
        int size = 0;
        for (Language part : sorted) {
            if (size == 0 || sorted[size - 1].id != part.id) {
                sorted[size++] = part;
            }
        }
        Language[] all = size == sorted.length ? sorted : Arrays.copyOf(sorted, size);
        for (Language part : all) {
            if (part.kind == Kind.NOT && Arrays.binarySearch(all, part.parts[0], BY_ID) >= 0) {
                return absorbing;
            }
            if (part.kind == Kind.EPSILON && kind == Kind.AND) {
                return areNullable(all, true) ? epsilon : empty;
            }
        }
        if (size <= 1) {
            return size == 0 ? neutral : all[0];
        }
        return make(kind, all, null, 0, 0, areNullable(all, kind == Kind.AND));
    }

    /** Whether all of some languages are nullable, or any. */
    private static boolean areNullable(Language[] languages, boolean isOfAll) {
        for (Language language : languages) {
            if (language.isNullable != isOfAll) {
                return !isOfAll;
            }
        }
        return isOfAll;
    }

    private Language make(Kind kind, Language[] parts, @Nullable Object payload, int min, int max, boolean isNullable) {
        LanguageKey key = new LanguageKey(kind, parts, payload, min, max);
        Language known = interned.get(key);
        if (known == null) {
            budget.spend(2 + parts.length);
            budget.keep(2 + parts.length / 8);
            known = new Language(kind, interned.size(), parts, payload, min, max, isNullable);
            interned.put(key, known);
        }
        return known;
    }

    // ---- derivatives ----

    /** The language behind a code point; empty where no text of the language goes on so. */
    public Language next(Language language, int codePoint) {
        return steps(language).at(codePoint);
    }

    /** The language behind a text. */
    public Language next(Language language, String text) {
        Language at = language;
        for (int codePoint : text.codePoints().toArray()) {
            at = next(at, codePoint);
        }
        return at;
    }

    public boolean matches(Language language, String text) {
        return next(language, text).isNullable;
    }

    /** Whether some text goes on with a code point between two. */
    public boolean hasNext(Language language, int first, int last) {
        Steps steps = steps(language);
        for (int i = steps.indexOf(first); i < steps.targets().length && steps.starts()[i] <= last; i++) {
            if (!steps.targets()[i].isEmpty()) {
                return true;
            }
        }
        return false;
    }

    /** The derivatives by all code points; every target that is not empty is live. */
    Steps steps(Language language) {
        Steps known = language.steps;
        if (known == null) {
            Steps raw = raw(language);
            Language[] targets = raw.targets().clone();
            for (int i = 0; i < targets.length; i++) {
                targets[i] = isLive(targets[i]) ? targets[i] : empty;
            }
            known = Steps.merged(raw.starts(), targets);
            budget.keep(1 + known.starts().length / 8);
            language.steps = known;
        }
        return known;
    }

    private Steps rawSteps(Language language) {
        budget.spend(4);
        return switch (language.kind) {
            case EMPTY, EPSILON -> Steps.all(empty);
            case ANY -> Steps.all(any);
            case SYMBOL -> Steps.of((CodePoints) Objects.requireNonNull(language.payload), epsilon, empty);
            case CONCAT -> concatSteps(language);
            case OR, AND -> joinedSteps(language);
            case NOT -> mapped(raw(language.parts[0]), this::not);
            case REPEAT -> repeatSteps(language);
            case LITERALS -> literalSteps((Literals) Objects.requireNonNull(language.payload));
            case LENGTH ->
                Steps.all(length(
                        language.min - 1, language.max == Language.UNBOUNDED ? Language.UNBOUNDED : language.max - 1));
            case MACHINE -> machineSteps((Machine) Objects.requireNonNull(language.payload));
        };
    }

    /** The derivatives as the expression gives them; dead ones may be among them. */
    private Steps raw(Language language) {
        Steps known = language.raw;
        if (known == null) {
            if (depth >= MAX_DEPTH) {
                throw new GrammarException(GrammarException.Reason.BUDGET, "the expression is nested too deep.");
            }
            depth++;
            try {
                known = rawSteps(language);
            } finally {
                depth--;
            }
            language.raw = known;
        }
        return known;
    }

    private interface Mapping {
        Language of(Language target);
    }

    private Steps mapped(Steps steps, Mapping mapping) {
        Language[] targets = new Language[steps.targets().length];
        for (int i = 0; i < targets.length; i++) {
            targets[i] = mapping.of(steps.targets()[i]);
        }
        budget.spend(targets.length);
        return Steps.merged(steps.starts(), targets);
    }

    private Steps concatSteps(Language language) {
        Language first = language.parts[0];
        Language second = language.parts[1];
        Steps through = mapped(raw(first), target -> concat(target, second));
        return first.isNullable ? join(through, raw(second), true) : through;
    }

    private Steps repeatSteps(Language language) {
        int max = language.max == Language.UNBOUNDED ? Language.UNBOUNDED : language.max - 1;
        Language rest = repeat(language.parts[0], Math.max(0, language.min - 1), max);
        return mapped(raw(language.parts[0]), target -> concat(target, rest));
    }

    private Steps joinedSteps(Language language) {
        boolean isOr = language.kind == Kind.OR;
        Language[] parts = language.parts;
        Steps[] all = new Steps[parts.length];
        for (int i = 0; i < parts.length; i++) {
            all[i] = raw(parts[i]);
        }
        // Two at a time, so that ranges in which few parts differ are joined once.
        int size = all.length;
        while (size > 1) {
            for (int i = 0; i < size / 2; i++) {
                all[i] = join(all[2 * i], all[2 * i + 1], isOr);
            }
            if (size % 2 == 1) {
                all[size / 2] = all[size - 1];
            }
            size = (size + 1) / 2;
        }
        return all[0];
    }

    private Steps join(Steps a, Steps b, boolean isOr) {
        int[] starts = new int[a.starts().length + b.starts().length];
        Language[] targets = new Language[starts.length];
        int size = 0;
        int i = 0;
        int k = 0;
        int at = 0;
        while (at <= CodePoints.MAX) {
            starts[size] = at;
            targets[size++] = isOr ? or(a.targets()[i], b.targets()[k]) : and(a.targets()[i], b.targets()[k]);
            int endA = a.last(i);
            int endB = b.last(k);
            at = Math.min(endA, endB) + 1;
            if (endA < at) {
                i++;
            }
            if (endB < at) {
                k++;
            }
        }
        budget.spend(size);
        return Steps.merged(Arrays.copyOf(starts, size), Arrays.copyOf(targets, size));
    }

    private Steps literalSteps(Literals literals) {
        int[][] texts = literals.texts().codePoints;
        int depth = literals.depth();
        int[] starts = new int[2 * (literals.to() - literals.from()) + 2];
        Language[] targets = new Language[starts.length];
        int size = 0;
        int next = 0;
        BitSet gone = literals.goneOfAll();
        int at = literals.from() + (literals.endsHere() ? 1 : 0);
        while (at < literals.to()) {
            int symbol = texts[at][depth];
            int end = at + 1;
            while (end < literals.to() && texts[end][depth] == symbol) {
                end++;
            }
            Language target = literals(Literals.of(literals.texts(), at, end, depth + 1, gone));
            if (symbol > next && !target.isEmpty()) {
                starts[size] = next;
                targets[size++] = empty;
            }
            if (!target.isEmpty()) {
                starts[size] = symbol;
                targets[size++] = target;
                next = symbol + 1;
            }
            at = end;
        }
        if (next <= CodePoints.MAX) {
            starts[size] = next;
            targets[size++] = empty;
        }
        budget.spend(literals.to() - literals.from());
        return new Steps(Arrays.copyOf(starts, size), Arrays.copyOf(targets, size));
    }

    private Steps machineSteps(Machine machine) {
        int[] starts = new int[129];
        Language[] targets = new Language[129];
        for (int character = 0; character < 128; character++) {
            starts[character] = character;
            targets[character] = machine(machine.next(character));
        }
        starts[128] = 128;
        targets[128] = empty;
        budget.spend(16);
        return Steps.merged(starts, targets);
    }

    // ---- emptiness ----

    /** Whether some text is in the language. */
    public boolean isLive(Language language) {
        if (language.live == 0) {
            if (language.isNullable || isPlain(language)) {
                language.live = LIVE;
            } else if (language.kind == Kind.OR) {
                language.live = Arrays.stream(language.parts).anyMatch(this::isLive) ? LIVE : DEAD;
            } else {
                search(language);
            }
        }
        return language.live == LIVE;
    }

    /** Whether an expression shows by itself that it is not empty. */
    private boolean isPlain(Language language) {
        return switch (language.kind) {
            case EMPTY -> false;
            case EPSILON, ANY, SYMBOL, LITERALS, LENGTH -> true;
            case CONCAT -> isPlain(language.parts[0]) && isPlain(language.parts[1]);
            case REPEAT -> isPlain(language.parts[0]);
            case OR -> isAnyPlain(language.parts);
            case AND -> language.live == LIVE || isPlainWithLength(language.parts);
            case NOT, MACHINE -> language.live == LIVE;
        };
    }

    private boolean isAnyPlain(Language[] parts) {
        for (Language part : parts) {
            if (isPlain(part)) {
                return true;
            }
        }
        return false;
    }

    private boolean isPlainWithLength(Language[] parts) {
        int length = parts.length != 2 ? -1 : parts[0].isLength() ? 0 : parts[1].isLength() ? 1 : -1;
        return length >= 0 && Loosening.hasLength(parts[1 - length], parts[length]) && isPlain(parts[1 - length]);
    }

    /** Looks for a shortest way to a nullable language; what it finds of others on the way is kept. */
    private void search(Language from) {
        List<Language> seen = new ArrayList<>();
        List<Integer> before = new ArrayList<>(); // the index in seen from which each was reached
        from.live = IN_QUESTION;
        seen.add(from);
        before.add(-1);
        int found = -1;
        int at = 0;
        try {
            for (; at < seen.size() && found < 0; at++) {
                for (Language target : raw(seen.get(at)).targets()) {
                    if (target.live == 0 && (target.isNullable || isPlain(target))) {
                        target.live = LIVE;
                    }
                    if (target.live == LIVE) {
                        found = at;
                        break;
                    }
                    if (target.live == 0) {
                        budget.spend(2);
                        target.live = IN_QUESTION;
                        seen.add(target);
                        before.add(at);
                    }
                }
            }
        } finally {
            boolean isComplete = found < 0 && at == seen.size();
            for (Language language : seen) {
                language.live = isComplete ? DEAD : 0; // all that was reached is dead, or undecided
            }
        }
        for (int i = found; i >= 0; i = before.get(i)) {
            seen.get(i).live = LIVE;
        }
    }
}
