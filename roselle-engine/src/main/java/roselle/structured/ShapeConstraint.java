package roselle.structured;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.Constraint;
import roselle.grammar.automaton.Lexeme;
import roselle.grammar.automaton.State;

/**
 * Texts of a shape: literals, special tokens among them, with free texts and texts of other constraints between them. A state is the
 * set of all places where a text may stand.
 */
public final class ShapeConstraint implements Constraint {
    private static final int MAX_KEPT = 1 << 16; // states that are known to be the same

    private final Map<List<Place>, Places> known = new HashMap<>();
    private final ShapeNode shape;

    private final List<Constraint> parts;

    ShapeConstraint(ShapeNode shape) {
        this.shape = shape;
        parts = List.copyOf(ShapeNode.constraints(shape));
    }

    @Override
    public void beginStep() {
        parts.forEach(Constraint::beginStep);
    }

    @Override
    public void endStep() {
        parts.forEach(Constraint::endStep);
    }

    @Override
    public State start() {
        var entry = new Entry();
        entry.enter(shape);
        return state(entry.places);
    }

    /** One way in which a text may have come so far. */
    private sealed interface Place {
        record End() implements Place {}

        record InLiteral(ShapeNode.Literal node, int at) implements Place {}

        record InHeld(ShapeNode.Held node, State state) implements Place {}

        record InFree(ShapeNode.Free node, int at, TextLimits left) implements Place {}
    }

    private static final Place END = new Place.End();

    /** Collects the places that a text comes to. */
    private static final class Entry {
        final Set<Place> places = new LinkedHashSet<>();
        private final Set<ShapeNode> forks = Collections.newSetFromMap(new IdentityHashMap<>());

        void enter(ShapeNode node) {
            switch (node) {
                case ShapeNode.End _ -> places.add(END);
                case ShapeNode.Literal literal -> at(literal, 0);
                case ShapeNode.Held held -> at(held, held.constraint.start());
                case ShapeNode.Free free -> at(free, free.text.start(), free.limits);
                case ShapeNode.Fork fork -> {
                    if (forks.add(fork)) {
                        fork.branches.forEach(this::enter);
                    }
                }
            }
        }

        void at(ShapeNode.Literal node, int at) {
            if (at == node.octets.length) {
                enter(node.next);
            } else {
                places.add(new Place.InLiteral(node, at));
            }
        }

        void at(ShapeNode.Held node, State state) {
            if (places.add(new Place.InHeld(node, state)) && state.isAccepting()) {
                enter(node.next);
            }
        }

        void at(ShapeNode.Free node, int at, TextLimits left) {
            int mark = node.text.found(at);
            ShapeNode behind = mark < 0 ? null : node.behind[mark];
            if (behind != null) {
                enter(behind);
            } else if (left.isSpent() && MarkedText.isWhole(at)) {
                close(node, at);
            } else if (places.add(new Place.InFree(node, at, left))
                    && node.next != null
                    && MarkedText.isWhole(at)
                    && !left.isOneToken()) {
                enter(node.next);
            }
        }

        /** Ends a text, of which the beginning of a mark may have been read. */
        private void close(ShapeNode.Free node, int at) {
            for (ShapeNode.Literal end : node.ends) {
                for (int begun = 0; begun < end.octets.length; begun++) {
                    if (node.text.endsWith(at, end.octets, begun)) {
                        at(end, begun);
                    }
                }
            }
            if (node.next != null) {
                enter(node.next);
            }
        }

        /** Where a token ends. */
        void behindToken(Place place) {
            switch (place) {
                case Place.InHeld(var node, State state) -> at(node, state.behindToken());
                case Place.InFree(var node, int at, TextLimits left) -> at(node, at, left.behindToken());
                case Place.End _, Place.InLiteral _ -> places.add(place);
            }
        }

        void advance(Place place, int octet) {
            switch (place) {
                case Place.End _ -> {}
                case Place.InLiteral(var node, int at) -> {
                    if ((node.octets[at] & 0xFF) == octet) {
                        at(node, at + 1);
                    }
                }
                case Place.InHeld(var node, State state) -> {
                    State next = state.advance(octet);
                    if (next != null) {
                        at(node, next);
                    }
                }
                case Place.InFree(var node, int at, TextLimits left) -> {
                    int next = node.text.next(at, octet);
                    if (next != MarkedText.NOT) {
                        at(node, next, left.after(MarkedText.isWhole(next) ? 1 : 0));
                    }
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

    /** One way on: of a place that has several, its branch. */
    private record Branch(Place place, int inner, Lexeme lexeme) {}

    /** All ways in which a text may have come so far. */
    private final class Places implements State {
        private final List<Place> places;
        private @Nullable List<Branch> branches; // found when first asked for

        Places(List<Place> places) {
            this.places = places;
        }

        private static boolean isCounted(Place place) {
            return switch (place) {
                case Place.End _, Place.InLiteral _ -> false;
                case Place.InHeld(var _, State state) -> !state.equals(state.behindToken());
                case Place.InFree(var _, int _, TextLimits left) -> left.isTouched();
            };
        }

        @Override
        public @Nullable State advance(int octet) {
            var next = new Entry();
            for (Place place : places) {
                next.advance(place, octet);
            }
            return next.places.isEmpty() ? null : state(next.places);
        }

        @Override
        public boolean isAccepting() {
            return places.contains(END);
        }

        @Override
        public State twin() {
            var twins = new LinkedHashSet<Place>();
            places.forEach(place -> twins.add(
                    place instanceof Place.InHeld(var node, State state)
                            ? new Place.InHeld(node, state.twin())
                            : place));
            return twins.equals(Set.copyOf(places)) ? this : state(twins);
        }

        @Override
        public boolean hangsOnItems() {
            return places.stream().anyMatch(Places::hangsOnItems);
        }

        private static boolean hangsOnItems(Place place) {
            return place instanceof Place.InHeld(var _, State state) && state.hangsOnItems();
        }

        /** Whether a comma may come in a step that is a branch, which walks would not see. */
        private boolean hidesSeparators() {
            return places.stream()
                    .anyMatch(place -> hangsOnItems(place)
                            && ((Place.InHeld) place).state().branches() == 0);
        }

        @Override
        public State behindToken() {
            if (places.stream().noneMatch(Places::isCounted)) {
                return this;
            }
            var next = new Entry();
            places.forEach(next::behindToken);
            return state(next.places);
        }

        /** Where there is but one way, that of a constraint which is followed byte by byte. */
        private @Nullable State stepwise() {
            return places.size() == 1
                            && places.getFirst() instanceof Place.InHeld(var _, State state)
                            && state.branches() == 0
                    ? state
                    : null;
        }

        @Override
        public int @Nullable [] octets() {
            State stepwise = stepwise();
            return stepwise == null ? null : stepwise.octets();
        }

        @Override
        public int branches() {
            return all().size();
        }

        private List<Branch> all() {
            List<Branch> known = branches;
            if (known == null) {
                known = new ArrayList<>();
                if (stepwise() == null && !hidesSeparators()) {
                    for (Place place : places) {
                        add(place, known);
                    }
                }
                branches = known;
            }
            return known;
        }

        private static void add(Place place, List<Branch> branches) {
            switch (place) {
                case Place.End _ -> {}
                case Place.InLiteral(var node, int at) -> branches.add(new Branch(place, 0, node.lexeme(at)));
                case Place.InHeld(var _, State state) -> {
                    for (int inner = 0; inner < state.branches(); inner++) {
                        branches.add(new Branch(place, inner, state.lexeme(inner)));
                    }
                    if (state.branches() == 0) {
                        branches.add(new Branch(place, 0, new StepLexeme(state)));
                    }
                }
                case Place.InFree(var node, int at, TextLimits left) ->
                    branches.add(
                            new Branch(place, 0, node.text.lexeme(at, endsAnywhere(node), left.charactersOfToken())));
            }
        }

        private static boolean endsAnywhere(ShapeNode.Free node) {
            return node.next != null && !(node.next instanceof ShapeNode.End) && !node.limits.isOneToken();
        }

        @Override
        public Lexeme lexeme(int branch) {
            return all().get(branch).lexeme();
        }

        @Override
        public @Nullable State leave(int branch, Lexeme end) {
            Branch left = all().get(branch);
            var next = new Entry();
            switch (left.place()) {
                case Place.End _ -> {}
                case Place.InLiteral(var node, int _) -> next.enter(node.next);
                case Place.InHeld(var node, State state) -> leave(node, state, left.inner(), end, next);
                case Place.InFree(var node, int _, TextLimits limits) -> {
                    var inside = (MarkedText.Inside) end;
                    int whole = limits.charactersOfToken() - inside.characters;
                    next.at(node, inside.at, end.equals(left.lexeme()) ? limits : limits.after(whole));
                }
            }
            return next.places.isEmpty() ? null : state(next.places);
        }

        private static void leave(ShapeNode.Held node, State state, int inner, Lexeme end, Entry next) {
            if (end instanceof StepLexeme.Behind(State behind)) {
                next.at(node, behind);
                return;
            }
            State behind = state.leave(inner, end);
            if (behind != null) {
                next.at(node, behind);
            } else if (node.endsInLexemes) {
                next.enter(node.next);
            }
        }
    }
}
