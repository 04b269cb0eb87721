package roselle.grammar.schema;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A quick look for one way to complete an object: members that the schemas name, whose values meet whatever is asked of them. What it
 * finds is a way. That it finds none says nothing: it tries few.
 */
final class Witness {
    private static final int MAX_STEPS = 300;

    private final Formulas formulas;
    private final Shapes shapes;
    private final Completion completion;
    private final Shape.OfObject shape;
    private final int first; // the name that comes next, or -1
    private final List<String> coming = new ArrayList<>();
    private final List<String> missing = new ArrayList<>();
    private final List<Atom> others = new ArrayList<>(); // that must hold of the names that come
    private final List<Atom.Members> broken = new ArrayList<>(); // that one of them must fail
    private int stepsLeft = MAX_STEPS;

    /** What must still hold. */
    private record Agenda(Formula head, @Nullable Agenda rest) {}

    private Witness(Formulas formulas, Shapes shapes, Shape.OfObject shape, @Nullable String first) {
        this.formulas = formulas;
        this.shapes = shapes;
        this.completion = shapes.completion();
        this.shape = shape;
        this.first = first == null ? -1 : indexOf(shape, first);
        if (first != null) {
            coming.add(first);
        }
    }

    private static int indexOf(Shape.OfObject shape, String name) {
        return Objects.requireNonNull(shape.universe.index().get(name));
    }

    /** Names that complete an object, one of them next if that is given, as a set of its universe; null where none were found. */
    static @Nullable BitSet find(Formulas formulas, Shapes shapes, Shape.OfObject shape, @Nullable String first) {
        for (Formula goal : shape.goals) {
            if (!goal.isFalse()) {
                Witness witness = new Witness(formulas, shapes, shape, first);
                if (witness.holds(new Agenda(goal, null))) {
                    BitSet way = new BitSet();
                    witness.coming.forEach(name -> way.set(indexOf(shape, name)));
                    return way;
                }
            }
        }
        return null;
    }

    private boolean holds(@Nullable Agenda agenda) {
        if (--stepsLeft < 0) {
            return false;
        }
        formulas.budget().spend(1);
        if (agenda == null) {
            return isWay();
        }
        Formula formula = agenda.head;
        return switch (formula.kind) {
            case TRUE -> holds(agenda.rest);
            case FALSE -> false;
            case AND -> holds(with(formula.parts, agenda.rest));
            case OR -> holdsAny(formula.parts, agenda.rest);
            case ATOM, NOT_ATOM -> holdsAtom(formula, agenda.rest);
        };
    }

    private static @Nullable Agenda with(Formula[] parts, @Nullable Agenda rest) {
        Agenda all = rest;
        for (int i = parts.length - 1; i >= 0; i--) {
            all = new Agenda(parts[i], all);
        }
        return all;
    }

    private boolean holdsAny(Formula[] parts, @Nullable Agenda rest) {
        for (Formula part : parts) {
            if (holds(new Agenda(part, rest))) {
                return true;
            }
        }
        return false;
    }

    private boolean holdsAtom(Formula formula, @Nullable Agenda rest) {
        Atom atom = formula.atom();
        boolean isMet = formula.kind == Formula.Kind.ATOM;
        if (atom instanceof Atom.Has(String key)) {
            List<String> wanted = isMet ? coming : missing;
            if (wanted.contains(key)) {
                return holds(rest);
            }
            return !(isMet ? missing : coming).contains(key) && holdsWith(wanted, key, rest);
        }
        if (!isMet) {
            return atom instanceof Atom.Members members && holdsWith(broken, members, rest);
        }
        return holdsWith(others, atom, rest);
    }

    private <T> boolean holdsWith(List<T> wanted, T one, @Nullable Agenda rest) {
        wanted.add(one);
        if (holds(rest)) {
            return true;
        }
        wanted.removeLast();
        return false;
    }

    private boolean isWay() {
        long count = shape.count + coming.size();
        for (Atom atom : others) {
            if (atom instanceof Atom.MemberCount(long min, long max) && (count < min || count > max)) {
                return false;
            }
        }
        List<Formula> values = new ArrayList<>(coming.size());
        for (String name : coming) {
            Formula value = value(name);
            if (!completion.isSatisfiable(value)) {
                return false;
            }
            values.add(value);
        }
        return areBroken(values);
    }

    /** What the value of a name that comes must meet; false where the name may not come. */
    private Formula value(String name) {
        stepsLeft -= others.size();
        if (Shapes.isSeen(shape, name) || (shapes.keepsOrder() && indexOf(shape, name) < first)) {
            return formulas.isFalse();
        }
        List<Formula> parts = new ArrayList<>();
        for (Atom atom : others) {
            if (atom instanceof Atom.Names(var keys) && !formulas.languages().matches(keys, name)) {
                return formulas.isFalse();
            }
            if (atom instanceof Atom.Members members) {
                parts.add(memberOf(members, name));
            }
        }
        return formulas.and(parts);
    }

    private Formula memberOf(Atom.Members members, String name) {
        return shapes.memberOf(members, name, pattern -> formulas.languages().matches(pattern, name));
    }

    /** Whether values can be such that each condition that must fail does, by one of them. */
    private boolean areBroken(List<Formula> values) {
        for (Atom.Members members : broken) {
            boolean isBroken = false;
            for (int i = 0; i < values.size() && !isBroken; i++) {
                stepsLeft--;
                Formula failing = formulas.and(values.get(i), formulas.not(memberOf(members, coming.get(i))));
                isBroken = completion.isSatisfiable(failing);
                values.set(i, isBroken ? failing : values.get(i));
            }
            if (!isBroken) {
                return false;
            }
        }
        return true;
    }
}
