package roselle.grammar.schema;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import roselle.grammar.automaton.Budget;
import roselle.grammar.automaton.GrammarException;

/**
 * Asks when a constraint is built what answers would ask first of schemas with alternatives: which keys objects may begin with, and
 * what may follow those. What is asked here is remembered, and no token waits for it. Values near the whole come first.
 */
final class Preparation {
    /** Of work; a thousand take about 0.2 ms. */
    private static final long MAX_UNITS = 6_000;

    private final Formulas formulas;
    private final Shapes shapes;
    private final Deque<List<Formula>> open = new ArrayDeque<>(); // goals of values
    private final Set<List<Formula>> seen = new HashSet<>();

    private Preparation(Formulas formulas, Shapes shapes) {
        this.formulas = formulas;
        this.shapes = shapes;
    }

    static void of(Formulas formulas, Shapes shapes, Formula whole) {
        if (formulas.hasAlternatives()) {
            Preparation all = new Preparation(formulas, shapes);
            all.add(List.of(whole));
            try {
                all.run(formulas.budget());
            } catch (GrammarException _) {
                // an answer that comes there is told so; most never do
            }
        }
    }

    private void run(Budget budget) {
        long left = MAX_UNITS;
        while (left > 0 && !open.isEmpty()) {
            budget.refill();
            long before = budget.workLeft();
            Formula[] goals = open.remove().toArray(Formula[]::new);
            prepareObject(forType(goals, ValueType.OBJECT));
            prepareArray(forType(goals, ValueType.ARRAY));
            left -= before - budget.workLeft() + goals.length;
        }
    }

    private Formula[] forType(Formula[] goals, ValueType type) {
        Formula[] left = new Formula[goals.length];
        Arrays.setAll(left, i -> formulas.forType(goals[i], type));
        return left;
    }

    private void prepareObject(Formula[] goals) {
        if (!areFalse(goals)) {
            Shape.OfObject shape = shapes.object(goals);
            if (shapes.completion().isLive(shape)) {
                shapes.keys(shape).kinds().forEach(kind -> addParts(kind.outcomes()));
                shape.universe.names().forEach(name -> addParts(shapes.member(shape, name)));
            }
        }
    }

    private void prepareArray(Formula[] goals) {
        if (!areFalse(goals)) {
            Shape.OfArray shape = shapes.array(goals);
            if (shapes.completion().isLive(shape)) {
                addParts(shapes.items(shape));
            }
        }
    }

    private static boolean areFalse(Formula[] goals) {
        return Arrays.stream(goals).allMatch(Formula::isFalse);
    }

    private void addParts(List<Shape.Outcome> outcomes) {
        if (!outcomes.isEmpty()) {
            add(outcomes.stream().map(Shape.Outcome::part).toList());
        }
    }

    private void add(List<Formula> goals) {
        if (seen.add(goals)) {
            open.add(goals);
        }
    }
}
