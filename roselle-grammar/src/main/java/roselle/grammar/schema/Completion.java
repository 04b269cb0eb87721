package roselle.grammar.schema;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.GrammarException;
import roselle.grammar.regex.Examples;
import roselle.grammar.regex.Language;
import roselle.grammar.regex.Languages;

/**
 * Whether values exist that meet formulas, and whether objects and arrays begun can be closed: what keeps a text from dead ends.
 *
 * <p>Most shapes have one goal that joins plain conditions by and; those are judged by counting. Others are searched.
 */
final class Completion {
    private static final int MAX_WAYS = 4; // that are remembered

    private final Formulas formulas;
    private final Languages languages;
    private final Shapes shapes;
    private final Solver solver;
    private final Map<Formula, Conjunction> conjunctions = new HashMap<>();
    private final Map<ToMeet, List<BitSet>> ways = new HashMap<>();

    Completion(Formulas formulas, Shapes shapes) {
        this.formulas = formulas;
        this.languages = formulas.languages();
        this.shapes = shapes;
        this.solver = new Solver(formulas.budget());
    }

    boolean isSatisfiable(Formula formula) {
        if (formula.isTrue() || formula.isFalse()) {
            return formula.isTrue();
        }
        return solver.ask(formula.isSatisfiable, () -> hasValue(formula));
    }

    private boolean hasValue(Formula formula) {
        for (ValueType type : ValueType.values()) {
            Formula left = formulas.forType(formula, type);
            if (!left.isFalse() && hasValue(left, type)) {
                return true;
            }
        }
        return false;
    }

    private boolean hasValue(Formula formula, ValueType type) {
        if (formula.isTrue()) {
            return true;
        }
        return switch (type) {
            case NULL, TRUE, FALSE -> false;
            case NUMBER -> isNumber(formulas.language(formula, type));
            case STRING -> languages.isLive(formulas.language(formula, type));
            case OBJECT -> isLive(shapes.object(new Formula[] {formula}));
            case ARRAY -> isLive(shapes.array(new Formula[] {formula}));
        };
    }

    private boolean isNumber(Language spellings) {
        return formulas.numbers().mayHaveSome(spellings) && languages.isLive(spellings);
    }

    boolean isLive(Shape shape) {
        if (shape instanceof Shape.OfObject object && hasKnownWay(object)) {
            return true;
        }
        boolean isLive = solver.ask(shape.isLive(), () -> {
            boolean isClosable = shapes.closed(shape) >= 0;
            return switch (shape) {
                case Shape.OfObject object -> {
                    object.way = isClosable ? new BitSet() : null;
                    yield isClosable || canComplete(object);
                }
                case Shape.OfArray array -> isClosable || canComplete(array);
            };
        });
        if (isLive && shape instanceof Shape.OfObject object && object.way != null) {
            remember(object, object.way);
        }
        return isLive;
    }

    /** What objects that differ by the keys that came have in common; goals and universes by identity, as they are interned. */
    @SuppressWarnings("ArrayRecordComponent") // compared by its elements
    private record ToMeet(Formula[] goals, Shape.Universe universe, long count) {
        @Override
        @SuppressWarnings("ReferenceEquality") // interned
        public boolean equals(@Nullable Object other) {
            return other instanceof ToMeet key
                    && count == key.count
                    && universe == key.universe
                    && Arrays.equals(goals, key.goals);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(goals) * 31 + Long.hashCode(count);
        }
    }

    /**
     * Whether the keys of a way on which another object with the same goals can be completed have not come here, either: most keys change
     * nothing of the goals, and so need no search of their own.
     */
    private boolean hasKnownWay(Shape.OfObject shape) {
        if (shape.isLive().answer != Question.Answer.UNKNOWN || shapes.keepsOrder()) {
            return false;
        }
        for (BitSet way : ways.getOrDefault(toMeet(shape), List.of())) {
            if (!way.intersects(shape.seen)) {
                shape.isLive().answer = Question.Answer.YES;
                shape.way = way;
                return true;
            }
        }
        return false;
    }

    private void remember(Shape.OfObject shape, BitSet way) {
        List<BitSet> known = ways.computeIfAbsent(toMeet(shape), key -> new ArrayList<>(1));
        if (known.size() < MAX_WAYS && !known.contains(way)) {
            formulas.budget().keep(1);
            known.add(way);
        }
    }

    private static ToMeet toMeet(Shape.OfObject shape) {
        return new ToMeet(shape.goals, shape.universe, shape.count);
    }

    /** A goal that joins plain conditions by and. */
    private static final class Conjunction {
        final List<Atom.Members> members = new ArrayList<>();
        final List<String> required = new ArrayList<>();
        final List<String> forbidden = new ArrayList<>();
        final List<Language> names = new ArrayList<>();
        final List<Atom.Items> items = new ArrayList<>();
        final List<Atom.Contains> contains = new ArrayList<>();
        final List<Atom.Unique> unique = new ArrayList<>();
        final Map<String, Formula> known = new HashMap<>();
        long min;
        long max = Long.MAX_VALUE;
        boolean isPlain = true;

        private void add(Formula formula) {
            if (formula.kind == Formula.Kind.NOT_ATOM && formula.atom instanceof Atom.Has(String key)) {
                forbidden.add(key);
            } else if (formula.kind != Formula.Kind.ATOM) {
                isPlain = false;
            } else {
                addAtom(formula.atom());
            }
        }

        private void addAtom(Atom atom) {
            switch (atom) {
                case Atom.Members all -> members.add(all);
                case Atom.Has(String key) -> required.add(key);
                case Atom.Names(Language keys) -> names.add(keys);
                case Atom.MemberCount(long least, long most) -> bound(least, most);
                case Atom.ItemCount(long least, long most) -> bound(least, most);
                case Atom.Items all -> items.add(all);
                case Atom.Contains one -> contains.add(one);
                case Atom.Unique one -> unique.add(one);
                case Atom.Types _, Atom.Text _ -> isPlain = false;
            }
        }

        private void bound(long least, long most) {
            min = Math.max(min, least);
            max = Math.min(max, most);
        }
    }

    /** The one goal that is left, if it is a conjunction of plain conditions. */
    private @Nullable Conjunction conjunction(Shape shape) {
        Formula only = null;
        for (Formula goal : shape.goals()) {
            if (!goal.isFalse()) {
                if (only != null) {
                    return null;
                }
                only = goal;
            }
        }
        if (only == null) {
            return null;
        }
        Conjunction known = conjunctions.computeIfAbsent(only, goal -> {
            Conjunction made = new Conjunction();
            if (goal.kind == Formula.Kind.AND) {
                for (Formula part : goal.parts) {
                    made.add(part);
                }
            } else if (!goal.isTrue()) {
                made.add(goal);
            }
            formulas.budget().keep(3);
            return made;
        });
        return known.isPlain ? known : null;
    }

    // ---- objects ----

    private Formula member(Conjunction all, String name) {
        return Objects.requireNonNull(all.known.computeIfAbsent(name, key -> {
            if (all.forbidden.contains(key)) {
                return formulas.isFalse();
            }
            for (Language keys : all.names) {
                if (!languages.matches(keys, key)) {
                    return formulas.isFalse();
                }
            }
            List<Formula> parts = new ArrayList<>();
            for (Atom.Members members : all.members) {
                parts.add(shapes.memberOf(members, key, pattern -> languages.matches(pattern, key)));
            }
            return formulas.and(parts);
        }));
    }

    /** Whether a key that was not seen may come in a live shape. */
    boolean mayCome(Shape.OfObject shape, String name) {
        Conjunction all = conjunction(shape);
        if (all == null) {
            return Witness.find(formulas, shapes, shape, name) != null || shapes.hasMember(shape, name);
        }
        if (!isSatisfiable(member(all, name))) {
            return false;
        }
        boolean isRequired = all.required.contains(name);
        long rest = all.required.size() - (isRequired ? 1L : 0L);
        if (shape.count + 1 + rest > all.max) {
            return false;
        }
        if (shapes.keepsOrder() || all.min > shape.count + 1 + rest) {
            return shapes.hasMember(shape, name);
        }
        return true;
    }

    private boolean canComplete(Shape.OfObject shape) {
        Conjunction all = conjunction(shape);
        if (all == null) {
            shape.way = Witness.find(formulas, shapes, shape, null);
            return shape.way != null || shapes.hasAnyMember(shape);
        }
        for (String name : all.required) {
            if (Shapes.isSeen(shape, name) || !isSatisfiable(member(all, name))) {
                return false;
            }
        }
        long needed = shape.count + all.required.size();
        if (needed > all.max) {
            return false;
        }
        if (needed < all.min) {
            return hasKeys(shape, all, all.min - needed);
        }
        BitSet way = new BitSet();
        all.required.forEach(
                name -> way.set(Objects.requireNonNull(shape.universe.index().get(name))));
        shape.way = way;
        return true;
    }

    /** Whether so many more keys can be found beside the required ones. */
    private boolean hasKeys(Shape.OfObject shape, Conjunction all, long wanted) {
        if (all.min > all.max) {
            return false;
        }
        long found = 0;
        for (String name : shape.universe.names()) {
            boolean isFree = !Shapes.isSeen(shape, name) && !all.required.contains(name);
            found += isFree && isSatisfiable(member(all, name)) ? 1 : 0;
        }
        if (found >= wanted) {
            return true;
        }
        Language others = languages.not(shape.universe.language());
        for (Language keys : all.names) {
            others = languages.and(others, keys);
        }
        return found + otherKeys(all, others, 0, 0, new ArrayList<>(), wanted - found) >= wanted;
    }

    /** Counts keys that no schema names, kind by kind, up to a limit. */
    private long otherKeys(
            Conjunction all, Language keys, int memberAt, int patternAt, List<Formula> parts, long limit) {
        if (!languages.isLive(keys)) {
            return 0;
        }
        if (memberAt == all.members.size()) {
            return isSatisfiable(formulas.and(parts)) ? Examples.count(languages, keys, limit) : 0;
        }
        Atom.Members members = all.members.get(memberAt);
        if (patternAt == 0 && members.patterns.isEmpty()) {
            List<Formula> more = new ArrayList<>(parts);
            more.add(members.others.formula());
            return otherKeys(all, keys, memberAt + 1, 0, more, limit);
        }
        // Each pattern either matches or not; where none does, the schema of others holds.
        long count = 0;
        int patterns = members.patterns.size();
        if (patterns > 10) {
            throw new GrammarException(
                    GrammarException.Reason.BUDGET, "too many patternProperties with minProperties.");
        }
        for (int which = 0; which < 1 << patterns && count < limit; which++) {
            Language some = keys;
            List<Formula> more = new ArrayList<>(parts);
            for (int i = 0; i < patterns; i++) {
                Atom.KeyPattern pattern = members.patterns.get(i);
                boolean is = (which & 1 << i) != 0;
                some = languages.and(some, is ? pattern.keys() : languages.not(pattern.keys()));
                if (is) {
                    more.add(pattern.schema().formula());
                }
            }
            if (which == 0) {
                more.add(members.others.formula());
            }
            count += otherKeys(all, some, memberAt + 1, 0, more, limit - count);
        }
        return count;
    }

    // ---- arrays ----

    private boolean canComplete(Shape.OfArray shape) {
        Conjunction all = conjunction(shape);
        if (all == null || all.contains.size() > 1 || (all.contains.size() == 1 && !isOpen(all))) {
            return shapes.hasItem(shape); // not kept: questions are open
        }
        if (all.min > all.max) {
            return false;
        }
        long last = Math.max(all.min, shape.count);
        if (!all.contains.isEmpty()) {
            last = Math.max(last, lastFound(shape, all));
        }
        if (last > all.max) {
            return false;
        }
        long first = 0;
        for (Atom.Items items : all.items) {
            first = Math.max(first, items.first.size());
        }
        for (long i = shape.count; i < Math.min(last, first + 1); i++) {
            if (!isSatisfiable(item(all, i))) {
                return false;
            }
        }
        return all.unique.isEmpty() || hasDifferent(shape, all, last);
    }

    private static boolean isOpen(Conjunction all) {
        return all.contains.getFirst().max() == Long.MAX_VALUE && all.unique.isEmpty();
    }

    private Formula item(Conjunction all, long index) {
        List<Formula> parts = new ArrayList<>();
        for (Atom.Items items : all.items) {
            parts.add(items.at(index).formula());
        }
        return formulas.and(parts);
    }

    /** How many items it takes to find what must be contained; more than any array has if that cannot be. */
    private long lastFound(Shape.OfArray shape, Conjunction all) {
        Atom.Contains contains = all.contains.getFirst();
        long missing = contains.min() - contains.found();
        long first = 0;
        for (Atom.Items items : all.items) {
            first = Math.max(first, items.first.size());
        }
        long at = shape.count;
        for (; at < first && missing > 0; at++) {
            missing -=
                    isSatisfiable(formulas.and(item(all, at), contains.schema().formula())) ? 1 : 0;
        }
        if (missing <= 0) {
            return at;
        }
        boolean goesOn =
                isSatisfiable(formulas.and(item(all, at), contains.schema().formula()));
        return goesOn ? at + missing : Long.MAX_VALUE;
    }

    /** Whether enough different items can be found up to a length. */
    private boolean hasDifferent(Shape.OfArray shape, Conjunction all, long last) {
        long wanted = last - shape.count;
        if (wanted <= 0) {
            return true;
        }
        Atom.Unique unique = all.unique.getFirst();
        Formula seen = shapes.anyOf(unique.before());
        long pending = unique.isPending() ? 1 : 0;
        // Positions that allow the same values share them; of several kinds of positions each is judged alone.
        Map<Formula, Long> positions = new LinkedHashMap<>(); // asked in this order, at a cost
        long first = 0;
        for (Atom.Items items : all.items) {
            first = Math.max(first, items.first.size());
        }
        for (long i = shape.count; i < Math.min(last, first); i++) {
            positions.merge(item(all, i), 1L, Long::sum);
        }
        if (last > Math.max(first, shape.count)) {
            positions.merge(item(all, first), last - Math.max(first, shape.count), Long::sum);
        }
        for (Map.Entry<Formula, Long> position : positions.entrySet()) {
            Formula left = formulas.and(position.getKey(), formulas.not(seen));
            long needed = position.getValue() + pending;
            if (countValues(left, needed) < needed) {
                return false;
            }
        }
        return true;
    }

    /**
     * Whether what may come behind the item that an array waits for depends on its value only in that a further one must differ from it:
     * there are then more texts than are taken. False where that is not soon seen.
     */
    boolean hasRoom(Shape.OfArray shape) {
        Boolean known = shape.hasRoom;
        if (known == null) {
            known = seesRoom(shape);
            shape.hasRoom = known;
        }
        return known;
    }

    private boolean seesRoom(Shape.OfArray shape) {
        Conjunction all = conjunction(shape);
        if (all == null || !all.contains.isEmpty() || all.unique.size() != 1) {
            return false;
        }
        for (Atom.Items items : all.items) {
            if (!items.first.isEmpty()) {
                return false;
            }
        }
        if (shape.count >= all.max) {
            return true;
        }
        long needed = Math.max(1, all.min - shape.count)
                + all.unique.getFirst().before().size()
                + 1;
        Formula item = item(all, shape.count);
        Language texts = formulas.language(item, ValueType.STRING);
        return languages.isLive(texts)
                ? Examples.hasMany(languages, texts, needed)
                : hasManyObjects(formulas.forType(item, ValueType.OBJECT), needed);
    }

    /** Whether a further item that begins as a text, if one may come, can be prolonged without end wherever it stands. */
    boolean hasEndlessTexts(Shape.OfArray shape) {
        Conjunction all = conjunction(shape);
        return all != null
                && (shape.count >= all.max
                        || Examples.areEndless(formulas.language(item(all, shape.count), ValueType.STRING)));
    }

    /** Whether there are so many objects, because a member of them may be one of so many texts. */
    private boolean hasManyObjects(Formula formula, long wanted) {
        Shape.OfObject shape = shapes.object(new Formula[] {formula});
        Conjunction all = conjunction(shape);
        if (all == null || all.max < Long.MAX_VALUE || !isLive(shape)) {
            return false;
        }
        for (String name : shape.universe.names()) {
            Language texts = formulas.language(member(all, name), ValueType.STRING);
            if (Examples.hasMany(languages, texts, wanted)) {
                return true;
            }
        }
        return false;
    }

    private long countValues(Formula formula, long limit) {
        long count = 0;
        for (ValueType type : ValueType.values()) {
            Formula left = formulas.forType(formula, type);
            if (left.isFalse() || count >= limit) {
                continue;
            }
            count += switch (type) {
                case NULL, TRUE, FALSE -> left.isTrue() ? 1 : 0;
                case STRING -> Examples.count(languages, formulas.language(left, type), limit - count);
                case NUMBER -> countNumbers(formulas.language(left, type), limit - count);
                case OBJECT, ARRAY -> hasValue(left, type) ? limit : 0;
            };
        }
        return count;
    }

    private long countNumbers(Language language, long limit) {
        Language left = language;
        long count = 0;
        while (count < limit && count < 10_000) {
            String text = Examples.of(languages, left);
            if (text == null) {
                return count;
            }
            count++;
            left = languages.and(left, languages.not(shapes.equalNumber(text)));
        }
        return count >= 10_000 ? limit : count;
    }
}
