package roselle.grammar.schema;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What the conditions that a part must decide on lead to, one after the other. */
final class Decision {
    final Map<Shape, Formula> found = new LinkedHashMap<>();
    private final Formulas formulas;
    private final Completion completion;
    private final List<Formula> parts = new ArrayList<>();
    private final Map<Formula, Integer> partOf = new HashMap<>(); // of conditions, in that list
    private final Map<Formula, Movement.Dependence> dependences;
    private final Movement.Next next;
    private final boolean isOfOne; // whether one outcome is enough

    private final Shape.@Nullable OfObject from; // whose goals must change; null for any

    Decision(Formulas formulas, Completion completion, Movement moved, boolean isOfOne, Shape.@Nullable OfObject from) {
        this.formulas = formulas;
        this.completion = completion;
        Map<Formula, Integer> indices = new HashMap<>();
        moved.dependences().forEach((condition, dependence) -> {
            int index = indices.computeIfAbsent(dependence.part(), part -> indices.size());
            partOf.put(condition, index);
            if (index == parts.size()) {
                parts.add(dependence.part());
            }
        });
        this.dependences = moved.dependences();
        this.next = moved.next();
        this.isOfOne = isOfOne;
        this.from = from;
        decide(moved.goals(), 0, formulas.isTrue());
    }

    private void decide(Formula[] goals, int at, Formula part) {
        formulas.budget().spend(goals.length);
        if (areFalse(goals) || (isOfOne && !found.isEmpty())) {
            return;
        }
        if (at == parts.size()) {
            Shape shape = next.of(goals);
            if (isOther(shape) && completion.isSatisfiable(part) && completion.isLive(shape)) {
                found.merge(shape, part, formulas::or);
            }
            return;
        }
        int possible = firstPossible(at, part);
        if (possible > at) { // as where some of many constants has been decided on
            decide(decided(goals, at, possible, Movement.Dependence::whenNot), possible, part);
            return;
        }
        Formula[] whenValid = decided(goals, at, at + 1, Movement.Dependence::whenValid);
        Formula[] whenNot = decided(goals, at, at + 1, Movement.Dependence::whenNot);
        if (Arrays.equals(whenValid, whenNot)) {
            decide(whenValid, at + 1, part);
            return;
        }
        Formula valid = formulas.and(part, parts.get(at));
        decide(whenValid, at + 1, valid);
        Formula not = areFalse(whenNot) ? formulas.isFalse() : formulas.and(part, formulas.not(parts.get(at)));
        if (completion.isSatisfiable(not)) {
            decide(whenNot, at + 1, not);
        }
    }

    private boolean isOther(Shape shape) {
        return from == null || !Shape.areAlike(shape, from);
    }

    /** The first of the further parts that may hold together with what has been decided. */
    private int firstPossible(int from, Formula part) {
        int at = from;
        while (at < parts.size() && !completion.isSatisfiable(formulas.and(part, parts.get(at)))) {
            at++;
        }
        return at;
    }

    private Formula[] decided(Formula[] goals, int from, int to, Function<Movement.Dependence, Formula> which) {
        return formulas.replaced(goals, Formula.OF_MEMBERS | Formula.OF_ITEMS, formula -> {
            int index = partOf.getOrDefault(formula, -1);
            return index >= from && index < to
                    ? which.apply(Objects.requireNonNull(dependences.get(formula)))
                    : formula;
        });
    }

    private static boolean areFalse(Formula[] goals) {
        for (Formula goal : goals) {
            if (!goal.isFalse()) {
                return false;
            }
        }
        return true;
    }
}
