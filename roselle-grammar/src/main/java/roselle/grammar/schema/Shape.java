package roselle.grammar.schema;

import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import roselle.grammar.regex.Language;

/**
 * Where an object or array stands between two of its parts, whatever encloses it: formulas that exclude each other, some already
 * false, of which one must hold at the end. Interned by {@link Shapes}.
 */
sealed interface Shape {
    /** The formulas, in the order of the goals of the value. */
    Formula[] goals();

    /** Whether it can be closed validly in some way. */
    Question isLive();

    /** Whether two objects ask for the same of what is still to come, but for the keys that came. */
    static boolean areAlike(Shape one, OfObject other) {
        return one instanceof OfObject object
                && object.count == other.count
                && Arrays.equals(object.goals, other.goals);
    }

    /** Which goal is met where it is closed here. */
    Closing closing();

    /** A goal that is met, -1 for none; asked once. */
    final class Closing {
        static final int NOT_ASKED = -2;

        int goal = NOT_ASKED;
    }

    /** A part may come and must meet a formula; then the shape is another. */
    record Outcome(Formula part, Shape next) {}

    /** An object after some members. Compared by identity. */
    final class OfObject implements Shape {
        final Formula[] goals;
        private final int hash;
        final Universe universe;
        final BitSet seen;
        final long count;
        private final Question isLive = new Question();
        private final Closing closing = new Closing();

        @Nullable
        KeyTable keys;

        @Nullable
        Boolean hasName;

        /** The named keys of one way to complete it, for which it is live; null where none is known. */
        @Nullable
        BitSet way;

        OfObject(Formula[] goals, Universe universe, BitSet seen, long count) {
            this.goals = goals;
            this.universe = universe;
            this.seen = seen;
            this.count = count;
            this.hash = (Arrays.hashCode(goals) * 31 + seen.hashCode()) * 31 + Long.hashCode(count);
        }

        /** Of what it is made of, once: interned, so that identity tells the rest. */
        @Override
        public int hashCode() {
            return hash;
        }

        @Override
        public Formula[] goals() {
            return goals;
        }

        @Override
        public Question isLive() {
            return isLive;
        }

        @Override
        public Closing closing() {
            return closing;
        }
    }

    /** An array after some items. Compared by identity. */
    final class OfArray implements Shape {
        final Formula[] goals;
        private final int hash;
        final long count;
        private final Question isLive = new Question();
        private final Closing closing = new Closing();

        @Nullable
        List<Outcome> items;

        @Nullable
        Boolean hasRoom;

        OfArray(Formula[] goals, long count) {
            this.goals = goals;
            this.count = count;
            this.hash = Arrays.hashCode(goals) * 31 + Long.hashCode(count);
        }

        /** As that of objects. */
        @Override
        public int hashCode() {
            return hash;
        }

        @Override
        public Formula[] goals() {
            return goals;
        }

        @Override
        public Question isLive() {
            return isLive;
        }

        @Override
        public Closing closing() {
            return closing;
        }
    }

    /** The keys that an object's schemas name, in their order, and as a language. */
    record Universe(List<String> names, Map<String, Integer> index, Language language) {}
}
