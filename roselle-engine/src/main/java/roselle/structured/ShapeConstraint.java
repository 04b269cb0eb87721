package roselle.structured;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.Constraint;
import roselle.grammar.automaton.Lexeme;
import roselle.grammar.automaton.State;

/**
 * Texts of a shape: literals, special tokens among them, with texts of other constraints between them. A state is the set of all
 * places where a text may stand.
 */
public final class ShapeConstraint implements Constraint {
    private static final int MAX_KEPT = 1 << 16; // states that are known to be the same

    private final Map<List<Place>, Places> known = new HashMap<>();
    private final State start;

    ShapeConstraint(ShapeNode shape) {
        Set<Place> places = new LinkedHashSet<>();
        enter(shape, places);
        start = state(places);
    }

    @Override
    public State start() {
        return start;
    }

    /** One way in which a text may have come so far. */
    private sealed interface Place {
        record End() implements Place {}

        record InLiteral(ShapeNode.Literal node, int at) implements Place {}

        record InHeld(ShapeNode.Held node, State state) implements Place {}

        record InFree(ShapeNode.Free node, int at) implements Place {}
    }

    private static final Place END = new Place.End();

    private static void enter(ShapeNode node, Set<Place> places) {
        switch (node) {
            case ShapeNode.End _ -> places.add(END);
            case ShapeNode.Literal literal -> enterLiteral(literal, 0, places);
            case ShapeNode.Held held -> enterHeld(held, held.constraint.start(), places);
            case ShapeNode.Free free -> enterFree(free, TextWithout.START, places);
            case ShapeNode.Fork fork -> {
                for (ShapeNode branch : fork.branches) {
                    enter(branch, places);
                }
            }
        }
    }

    private static void enterLiteral(ShapeNode.Literal node, int at, Set<Place> places) {
        if (at == node.octets.length) {
            enter(node.next, places);
        } else {
            places.add(new Place.InLiteral(node, at));
        }
    }

    private static void enterHeld(ShapeNode.Held node, State state, Set<Place> places) {
        places.add(new Place.InHeld(node, state));
        if (state.isAccepting()) {
            enter(node.next, places);
        }
    }

    private static void enterFree(ShapeNode.Free node, int at, Set<Place> places) {
        places.add(new Place.InFree(node, at));
        if (TextWithout.isWhole(at)) {
            enter(node.next, places);
        }
    }

    private static void advance(Place place, int octet, Set<Place> places) {
        switch (place) {
            case Place.End _ -> {}
            case Place.InLiteral(var node, int at) -> {
                if ((node.octets[at] & 0xFF) == octet) {
                    enterLiteral(node, at + 1, places);
                }
            }
            case Place.InHeld(var node, State state) -> {
                State next = state.advance(octet);
                if (next != null) {
                    enterHeld(node, next, places);
                }
            }
            case Place.InFree(var node, int at) -> {
                int next = node.text.next(at, octet);
                if (next != TextWithout.NOT) {
                    enterFree(node, next, places);
                }
            }
        }
    }

    private synchronized Places state(Set<Place> places) {
        if (known.size() > MAX_KEPT) {
            known.clear();
        }
        return known.computeIfAbsent(List.copyOf(places), Places::new);
    }

    /** All ways in which a text may have come so far. */
    private final class Places implements State {
        private final List<Place> places;

        Places(List<Place> places) {
            this.places = places;
        }

        @Override
        public @Nullable State advance(int octet) {
            Set<Place> next = new LinkedHashSet<>();
            for (Place place : places) {
                ShapeConstraint.advance(place, octet, next);
            }
            return next.isEmpty() ? null : state(next);
        }

        @Override
        public boolean isAccepting() {
            return places.contains(END);
        }

        /** Where there is but one way, its branches are those of the text that it is in. */
        private Place.@Nullable InHeld only() {
            return places.size() == 1 && places.getFirst() instanceof Place.InHeld held ? held : null;
        }

        @Override
        public int branches() {
            Place.InHeld only = only();
            return only == null ? 0 : only.state().branches();
        }

        @Override
        public Lexeme lexeme(int branch) {
            Place.InHeld only = only();
            if (only == null) {
                throw new IndexOutOfBoundsException(branch);
            }
            return only.state().lexeme(branch);
        }

        @Override
        public @Nullable State leave(int branch, Lexeme end) {
            Place.InHeld only = only();
            State behind = only == null ? null : only.state().leave(branch, end);
            if (only == null || behind == null) {
                return null;
            }
            Set<Place> next = new LinkedHashSet<>();
            enterHeld(only.node(), behind, next);
            return state(next);
        }
    }
}
