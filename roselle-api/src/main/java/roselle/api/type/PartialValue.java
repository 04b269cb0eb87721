package roselle.api.type;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What is known of a value while it is written, or where it was cut. */
public sealed interface PartialValue {
    /** Nothing yet; a number is known when it has ended. */
    record Nothing() implements PartialValue {}

    /** All of it, as the answer has it. */
    record Whole(@Nullable Object value) implements PartialValue {}

    /** The beginning of a text. */
    record Text(String begun) implements PartialValue {}

    /** Some elements of a collection, of which the last alone may be incomplete. */
    record Elements(List<PartialValue> elements) implements PartialValue {
        public Elements {
            elements = List.copyOf(elements);
        }
    }

    /** Some components of a record, or entries of a map, in order, of which the last alone may be incomplete. */
    record Members(Map<String, PartialValue> members) implements PartialValue {
        public Members {
            members = Collections.unmodifiableMap(new LinkedHashMap<>(members));
        }
    }
}
