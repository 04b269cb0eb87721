package roselle.grammar.schema;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import roselle.grammar.regex.Language;
import roselle.grammar.regex.Languages;
import tools.jackson.databind.JsonNode;

/**
 * Makes shapes, and moves them by the parts of objects and arrays. Callers hold the lock of the languages.
 *
 * <p>What a part must meet is found by deciding, one after the other, for each schema that the formulas ask about, whether the part
 * is valid; each way that can still be completed is an {@link Shape.Outcome}, and they exclude each other.
 */
final class Shapes {
    /** What tells objects apart; formulas and universes by identity, as they are interned themselves. */
    @SuppressWarnings("ArrayRecordComponent") // compared by its elements
    private record ObjectKey(Formula[] goals, Shape.Universe universe, BitSet seen, long count) {
        @Override
        @SuppressWarnings("ReferenceEquality") // interned
        public boolean equals(@Nullable Object other) {
            return other instanceof ObjectKey key
                    && universe == key.universe
                    && count == key.count
                    && Arrays.equals(goals, key.goals)
                    && seen.equals(key.seen);
        }

        @Override
        public int hashCode() {
            return (hashOf(goals) * 31 + seen.hashCode()) * 31 + Long.hashCode(count);
        }
    }

    /** What tells arrays apart. */
    @SuppressWarnings("ArrayRecordComponent") // compared by its elements
    private record ArrayKey(Formula[] goals, long count) {
        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof ArrayKey key && count == key.count && Arrays.equals(goals, key.goals);
        }

        @Override
        public int hashCode() {
            return hashOf(goals) * 31 + Long.hashCode(count);
        }
    }

    private static int hashOf(Formula[] goals) {
        int hash = 1;
        for (Formula goal : goals) {
            hash = 31 * hash + goal.id;
        }
        return hash;
    }

    private final Formulas formulas;
    private final Languages languages;
    private final Constants constants;
    private final boolean keepsOrder;
    private final Completion completion;
    private final Map<ObjectKey, Shape.OfObject> objects = new HashMap<>();
    private final Map<ArrayKey, Shape.OfArray> arrays = new HashMap<>();
    private final Map<List<String>, Shape.Universe> universes = new HashMap<>();

    Shapes(Formulas formulas, Constants constants, boolean keepsOrder) {
        this.formulas = formulas;
        this.languages = formulas.languages();
        this.constants = constants;
        this.keepsOrder = keepsOrder;
        this.completion = new Completion(formulas, this);
    }

    Completion completion() {
        return completion;
    }

    /** Met by one of some values. */
    Formula anyOf(List<JsonNode> values) {
        return constants.anyOf(values);
    }

    /** The spellings of a number that is given by one of them. */
    Language equalNumber(String spelling) {
        return constants.equal(new BigDecimal(spelling));
    }

    boolean keepsOrder() {
        return keepsOrder;
    }

    /** An object before its first member. */
    Shape.OfObject object(Formula[] goals) {
        Set<String> names = new LinkedHashSet<>();
        for (Formula goal : goals) {
            collectNames(goal, names, true);
        }
        for (Formula goal : goals) {
            collectNames(goal, names, false);
        }
        Shape.Universe universe = universes.computeIfAbsent(List.copyOf(names), list -> {
            Map<String, Integer> index = new HashMap<>();
            for (String name : list) {
                index.put(name, index.size());
            }
            formulas.budget().keep(list.size());
            return new Shape.Universe(list, index, languages.literals(list));
        });
        return object(goals, universe, new BitSet(), 0);
    }

    private void collectNames(Formula formula, Set<String> names, boolean isOfMembers) {
        formulas.budget().spend(1);
        if (formula.atom instanceof Atom.Members members && isOfMembers) {
            names.addAll(members.named.keySet());
        } else if (formula.atom instanceof Atom.Has(String key) && !isOfMembers) {
            names.add(key);
        }
        for (Formula part : formula.parts) {
            collectNames(part, names, isOfMembers);
        }
    }

    private Shape.OfObject object(Formula[] goals, Shape.Universe universe, BitSet seen, long count) {
        boolean[] counts = new boolean[1];
        Formula[] left = formulas.replaced(goals, Formula.OF_MEMBER_COUNT, formula -> {
            if (formula.atom instanceof Atom.MemberCount(long min, long max)) {
                Formula counted = counted(formula, min, max, count);
                counts[0] |= counted == formula;
                return counted;
            }
            return formula;
        });
        ObjectKey key = new ObjectKey(left, universe, seen, counts[0] ? count : 0);
        return objects.computeIfAbsent(key, made -> {
            formulas.budget().keep(4 + seen.size() / 512);
            return new Shape.OfObject(left, universe, seen, made.count());
        });
    }

    private Formula counted(Formula formula, long min, long max, long count) {
        if (count > max) {
            return formulas.isFalse();
        }
        return count >= min && max == Long.MAX_VALUE ? formulas.isTrue() : formula;
    }

    /** An array before its first item. */
    Shape.OfArray array(Formula[] goals) {
        return array(goals, 0);
    }

    private Shape.OfArray array(Formula[] goals, long count) {
        long[] most = new long[1];
        Formula[] left = formulas.replaced(goals, Formula.OF_ITEM_COUNT | Formula.OF_ITEMS, formula -> {
            if (formula.atom instanceof Atom.ItemCount(long min, long max)) {
                Formula counted = counted(formula, min, max, count);
                if (counted == formula) {
                    most[0] = Long.MAX_VALUE;
                }
                return counted;
            }
            if (formula.atom instanceof Atom.Items items) {
                most[0] = Math.max(most[0], items.first.size());
            }
            return formula;
        });
        ArrayKey key = new ArrayKey(left, Math.min(count, most[0]));
        return arrays.computeIfAbsent(key, made -> {
            formulas.budget().keep(4);
            return new Shape.OfArray(left, made.count());
        });
    }

    /** The goal that holds if the object or array ends here, or -1. */
    int closed(Shape shape) {
        Shape.Closing known = shape.closing();
        if (known.goal == Shape.Closing.NOT_ASKED) {
            known.goal = findClosed(shape);
        }
        return known.goal;
    }

    private int findClosed(Shape shape) {
        Formula[] goals = shape.goals();
        for (int i = 0; i < goals.length; i++) {
            if (!goals[i].isFalse() && closedValue(goals[i], shape)) {
                return i;
            }
        }
        return -1;
    }

    private boolean closedValue(Formula formula, Shape shape) {
        formulas.budget().spend(1);
        return switch (formula.kind) {
            case TRUE -> true;
            case FALSE -> false;
            case ATOM -> closedAtom(formula.atom(), shape);
            case NOT_ATOM -> !closedAtom(formula.atom(), shape);
            case AND -> areClosed(formula.parts, shape, true);
            case OR -> areClosed(formula.parts, shape, false);
        };
    }

    /** Whether all of some parts hold, or any. */
    private boolean areClosed(Formula[] parts, Shape shape, boolean isOfAll) {
        for (Formula part : parts) {
            if (closedValue(part, shape) != isOfAll) {
                return !isOfAll;
            }
        }
        return isOfAll;
    }

    private static boolean closedAtom(Atom atom, Shape shape) {
        long count = switch (shape) {
            case Shape.OfObject object -> object.count;
            case Shape.OfArray array -> array.count;
        };
        return switch (atom) {
            case Atom.Has _ -> false; // those that came are true by now
            case Atom.MemberCount(long min, long max) -> count >= min && count <= max;
            case Atom.ItemCount(long min, long max) -> count >= min && count <= max;
            case Atom.Contains(Schema _, long min, long max, long found) -> found >= min && found <= max;
            case Atom.Members _, Atom.Names _, Atom.Items _, Atom.Unique _ -> true;
            case Atom.Types _, Atom.Text _ -> throw new AssertionError(atom);
        };
    }

    // ---- members ----

    /** The keys that may come next; the shape is live. */
    KeyTable keys(Shape.OfObject shape) {
        KeyTable known = shape.keys;
        if (known == null) {
            List<String> gone = new ArrayList<>();
            for (String name : shape.universe.names()) {
                if (isSeen(shape, name) || !completion.mayCome(shape, name)) {
                    gone.add(name);
                }
            }
            Language names = languages.without(shape.universe.language(), gone);
            known = KeyTable.of(languages, shape.universe, names, kindsOf(shape));
            shape.keys = known;
        }
        return known;
    }

    /** Whether a key that the schemas name may come next; the shape is live. */
    boolean hasName(Shape.OfObject shape) {
        Boolean known = shape.hasName;
        if (known == null) {
            known = findName(shape);
            shape.hasName = known;
        }
        return known;
    }

    private boolean findName(Shape.OfObject shape) {
        List<String> names = shape.universe.names();
        for (int i = shape.seen.nextClearBit(0); i < names.size(); i = shape.seen.nextClearBit(i + 1)) {
            if (completion.mayCome(shape, names.get(i))) {
                return true;
            }
        }
        return false;
    }

    static boolean isSeen(Shape.OfObject shape, String name) {
        return isIn(shape.seen, shape.universe, name);
    }

    private static boolean isIn(BitSet seen, Shape.Universe universe, String name) {
        Integer index = universe.index().get(name);
        return index != null && seen.get(index);
    }

    /** What may follow a key that the schemas name. */
    List<Shape.Outcome> member(Shape.OfObject shape, String name) {
        KeyTable table = keys(shape);
        List<Shape.Outcome> known = table.members().get(name);
        if (known == null) {
            known = memberOutcomes(shape, name);
            table.members().put(name, known);
        }
        return known;
    }

    List<Shape.Outcome> memberOutcomes(Shape.OfObject shape, String name) {
        return members(shape, name, pattern -> languages.matches(pattern, name), seenWith(shape, name, keepsOrder));
    }

    /** Whether something may follow a key that the schemas name. */
    boolean hasMember(Shape.OfObject shape, String name) {
        return leadsOn(moveBehind(shape, name, keepsOrder));
    }

    private Movement moveBehind(Shape.OfObject shape, String name, boolean isLastSoFar) {
        BitSet seen = seenWith(shape, name, isLastSoFar);
        return move(shape, name, pattern -> languages.matches(pattern, name), seen);
    }

    /**
     * Whether some member leads on to an object that can be completed. Which members there are matters, and not their order: those that
     * come after another one here are behind it among the names, or have none. Of shapes that differ by what was left out before, most
     * are then the same. A member that changes nothing of the goals is left out: what may follow it may come without it.
     */
    boolean hasAnyMember(Shape.OfObject shape) {
        List<String> names = shape.universe.names();
        for (int i = shape.seen.nextClearBit(0); i < names.size(); i = shape.seen.nextClearBit(i + 1)) {
            Shape behind = leadsTo(moveBehind(shape, names.get(i), true), shape);
            if (behind != null) {
                shape.way = way((Shape.OfObject) behind, i);
                return true;
            }
        }
        BitSet seen = allSeen(shape);
        for (OtherKeys others : OtherKeys.of(shape, languages)) {
            Shape behind = leadsTo(move(shape, null, others::matches, seen), null);
            if (behind != null) {
                shape.way = ((Shape.OfObject) behind).way;
                return true;
            }
        }
        return false;
    }

    private static @Nullable BitSet way(Shape.OfObject behind, int first) {
        BitSet way = behind.way == null ? null : (BitSet) behind.way.clone();
        if (way != null) {
            way.set(first);
        }
        return way;
    }

    private static BitSet allSeen(Shape.OfObject shape) {
        BitSet seen = (BitSet) shape.seen.clone();
        seen.set(0, shape.universe.names().size());
        return seen;
    }

    private static BitSet seenWith(Shape.OfObject shape, String name, boolean isLastSoFar) {
        BitSet seen = (BitSet) shape.seen.clone();
        int index = Objects.requireNonNull(shape.universe.index().get(name));
        seen.set(index);
        if (isLastSoFar) {
            seen.set(0, index); // those before it may not come any more
        }
        return seen;
    }

    /** Kinds of keys that no schema names, with what may follow; none may. */
    List<KeyTable.Kind> kindsOf(Shape.OfObject shape) {
        BitSet seen = keepsOrder ? allSeen(shape) : shape.seen;
        List<KeyTable.Kind> kinds = new ArrayList<>();
        for (OtherKeys others : OtherKeys.of(shape, languages)) {
            kinds.add(new KeyTable.Kind(others.keys(), members(shape, null, others::matches, seen)));
        }
        return kinds;
    }

    /** What a member of a key must meet by one condition. */
    Formula memberOf(Atom.Members members, @Nullable String name, Predicate<Language> matches) {
        List<Formula> parts = new ArrayList<>();
        boolean isKnown = false;
        if (name != null && members.named.containsKey(name)) {
            parts.add(members.named.get(name).formula());
            isKnown = true;
        }
        for (Atom.KeyPattern pattern : members.patterns) {
            if (matches.test(pattern.keys())) {
                parts.add(pattern.schema().formula());
                isKnown = true;
            }
        }
        return isKnown ? formulas.and(parts) : members.others.formula();
    }

    private List<Shape.Outcome> members(
            Shape.OfObject shape, @Nullable String name, Predicate<Language> matches, BitSet seen) {
        return outcomes(move(shape, name, matches, seen));
    }

    private Movement move(Shape.OfObject shape, @Nullable String name, Predicate<Language> matches, BitSet seen) {
        Map<Formula, Movement.Dependence> dependences = new LinkedHashMap<>();
        Formula[] goals = formulas.replaced(shape.goals, Formula.OF_MEMBERS, formula -> switch (formula.atom()) {
            case Atom.Has(String key) -> {
                if (key.equals(name)) {
                    yield formulas.isTrue();
                }
                yield isIn(seen, shape.universe, key) ? formulas.isFalse() : formula; // it can not come any more
            }
            case Atom.Names(Language keys) -> matches.test(keys) ? formula : formulas.isFalse();
            case Atom.Members members ->
                Movement.dependent(formula, memberOf(members, name, matches), formula, formulas.isFalse(), dependences);
            default -> formula;
        });
        return new Movement(goals, dependences, left -> object(left, shape.universe, seen, shape.count + 1));
    }

    // ---- items ----

    /** What may come as the next item; the shape is live. */
    List<Shape.Outcome> items(Shape.OfArray shape) {
        List<Shape.Outcome> known = shape.items;
        if (known == null) {
            known = outcomes(movementOfItem(shape));
            shape.items = known;
        }
        return known;
    }

    /** Whether something may come as the next item. */
    boolean hasItem(Shape.OfArray shape) {
        List<Shape.Outcome> known = shape.items;
        return known == null ? leadsOn(movementOfItem(shape)) : !known.isEmpty();
    }

    private Movement movementOfItem(Shape.OfArray shape) {
        Map<Formula, Movement.Dependence> dependences = new LinkedHashMap<>();
        Formula[] goals = formulas.replaced(shape.goals, Formula.OF_ITEMS, formula -> switch (formula.atom()) {
            case Atom.Items items ->
                Movement.dependent(formula, items.at(shape.count).formula(), formula, formulas.isFalse(), dependences);
            case Atom.Contains contains ->
                Movement.dependent(formula, contains.schema().formula(), found(contains), formula, dependences);
            case Atom.Unique(List<JsonNode> before, boolean _) ->
                Movement.dependent(
                        formula,
                        formulas.not(constants.anyOf(before)),
                        formulas.atom(new Atom.Unique(before, true)),
                        formulas.isFalse(),
                        dependences);
            default -> formula;
        });
        return new Movement(goals, dependences, left -> array(left, shape.count + 1));
    }

    private Formula found(Atom.Contains contains) {
        long found = contains.found() + 1;
        if (found > contains.max()) {
            return formulas.isFalse();
        }
        if (found >= contains.min() && contains.max() == Long.MAX_VALUE) {
            return formulas.isTrue();
        }
        return formulas.atom(new Atom.Contains(contains.schema(), contains.min(), contains.max(), found));
    }

    /** Whether the last item's value is wanted, for later ones to differ from it. */
    static boolean isPending(Shape shape) {
        return arePending(shape.goals());
    }

    private static boolean arePending(Formula[] formulas) {
        for (Formula formula : formulas) {
            if (formula.atom instanceof Atom.Unique unique ? unique.isPending() : arePending(formula.parts)) {
                return true;
            }
        }
        return false;
    }

    /** The shape that knows the value of its last item. */
    Shape.OfArray withValue(Shape.OfArray shape, JsonNode value) {
        Formula[] goals = formulas.replaced(shape.goals, Formula.OF_ITEMS, formula -> {
            if (formula.atom instanceof Atom.Unique(List<JsonNode> before, boolean isPending) && isPending) {
                List<JsonNode> all = new ArrayList<>(before);
                all.add(value);
                return formulas.atom(new Atom.Unique(List.copyOf(all), false));
            }
            return formula;
        });
        formulas.budget().spend(goals.length);
        return array(goals, shape.count);
    }

    // ---- outcomes ----

    private boolean leadsOn(Movement moved) {
        return leadsTo(moved, null) != null;
    }

    /** Where something leads on to that can be completed, and has other goals than a shape that it comes from. */
    private @Nullable Shape leadsTo(Movement moved, Shape.@Nullable OfObject from) {
        Map<Shape, Formula> found = new Decision(formulas, completion, moved, true, from).found;
        return found.isEmpty() ? null : found.keySet().iterator().next();
    }

    private List<Shape.Outcome> outcomes(Movement moved) {
        Decision decision = new Decision(formulas, completion, moved, false, null);
        List<Shape.Outcome> outcomes = new ArrayList<>(decision.found.size());
        decision.found.forEach((shape, part) -> outcomes.add(new Shape.Outcome(part, shape)));
        return outcomes;
    }
}
