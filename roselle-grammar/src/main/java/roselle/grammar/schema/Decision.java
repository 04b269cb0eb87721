package roselle.grammar.schema;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
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
    private final List<@Nullable Collection<String>> texts = new ArrayList<>(); // of each part, where it is one of some
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
                texts.add(formulas.texts(dependence.part()));
            }
        });
        this.dependences = moved.dependences();
        this.next = moved.next();
        this.isOfOne = isOfOne;
        this.from = from;
        decide(moved.goals(), 0, formulas.isTrue(), null);
    }

    /** Decides on the further parts from one on, where the part is one of some texts if these are given. */
    private void decide(Formula[] goals, int at, Formula part, @Nullable Collection<String> chosen) {
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
        int possible = firstPossible(at, part, chosen);
        if (possible > at) { // as where some of many constants has been decided on
            decide(decided(goals, at, possible, Movement.Dependence::whenNot), possible, part, chosen);
            return;
        }
        Formula[] whenValid = decided(goals, at, at + 1, Movement.Dependence::whenValid);
        Formula[] whenNot = decided(goals, at, at + 1, Movement.Dependence::whenNot);
        if (Arrays.equals(whenValid, whenNot)) {
            decide(whenValid, at + 1, part, chosen);
            return;
        }
        Formula valid = formulas.and(part, parts.get(at));
        decide(whenValid, at + 1, valid, texts.get(at) == null ? chosen : texts.get(at));
        Formula not = areFalse(whenNot) ? formulas.isFalse() : formulas.and(part, formulas.not(parts.get(at)));
        if (completion.isSatisfiable(not)) {
            decide(whenNot, at + 1, not, chosen);
        }
    }

    private boolean isOther(Shape shape) {
        return from == null || !Shape.areAlike(shape, from);
    }

    /** The first of the further parts that may hold together with what has been decided. */
    private int firstPossible(int from, Formula part, @Nullable Collection<String> chosen) {
        int at = from;
        while (at < parts.size() && !isPossible(at, part, chosen)) {
            at++;
        }
        return at;
    }

    private boolean isPossible(int at, Formula part, @Nullable Collection<String> chosen) {
        Collection<String> its = texts.get(at);
        if (chosen != null && its != null && Collections.disjoint(chosen, its)) {
            return false; // as most constants are: quicker than to join what has been decided with each
        }
        return completion.isSatisfiable(formulas.and(part, parts.get(at)));
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
