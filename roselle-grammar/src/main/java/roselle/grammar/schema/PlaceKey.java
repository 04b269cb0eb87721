package roselle.grammar.schema;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What tells the states and inner contexts of one context apart. All parts are interned and compared by identity; written out, because
 * these are looked up for every byte of a mask's walk, and what a record brings with it takes several times as long.
 */
@SuppressWarnings("ReferenceEquality") // interned
sealed interface PlaceKey {
    /** Before a value. */
    record OfValue(int gap, boolean mayBreak, @Nullable Shape emptyArray) implements PlaceKey {
        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof OfValue key
                    && gap == key.gap
                    && mayBreak == key.mayBreak
                    && emptyArray == key.emptyArray;
        }

        @Override
        public int hashCode() {
            return (gap * 31 + (mayBreak ? 1 : 0)) * 31 + hash(emptyArray);
        }
    }

    /** Between the parts of an object. */
    record InObject(
            Shape shape,
            Extras extras,
            JsonState.InObject.Place place,
            int gap,
            @Nullable Context value) implements PlaceKey {
        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof InObject key
                    && shape == key.shape
                    && extras == key.extras
                    && place == key.place
                    && gap == key.gap
                    && value == key.value;
        }

        @Override
        public int hashCode() {
            return (((shape.hashCode() * 31 + extras.hashCode()) * 31 + place.hashCode()) * 31 + gap) * 31
                    + hash(value);
        }
    }

    /** In a key. */
    record InKey(Shape shape, Extras extras, KeyTexts texts) implements PlaceKey {
        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof InKey key && shape == key.shape && extras == key.extras && texts.equals(key.texts);
        }

        @Override
        public int hashCode() {
            return (shape.hashCode() * 31 + extras.hashCode()) * 31 + texts.hashCode();
        }
    }

    /** Behind an item of an array. */
    record InArray(Shape shape, int gap) implements PlaceKey {
        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof InArray key && shape == key.shape && gap == key.gap;
        }

        @Override
        public int hashCode() {
            return shape.hashCode() * 31 + gap;
        }
    }

    /** Around a value within. */
    record Within(List<Shape.Outcome> outcomes, Extras extras) implements PlaceKey {
        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Within key && outcomes == key.outcomes && extras == key.extras;
        }

        @Override
        public int hashCode() {
            return System.identityHashCode(outcomes) * 31 + extras.hashCode();
        }
    }

    private static int hash(@Nullable Object part) {
        return part == null ? 0 : part.hashCode();
    }
}
