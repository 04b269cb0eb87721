package roselle.structured.type;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What a Java type is in JSON. Records and sealed interfaces may contain themselves; they are equal by identity. */
sealed interface TypeNode {
    /**
     * A value without parts.
     *
     * @param schema the keywords of its JSON schema
     * @param read its JSON, a string's without quotation marks and escapes, to the value
     * @param isText whether it is a JSON string
     * @param isToldInParts whether it is told as it is written
     * @param hasOneSpelling whether values that are equal are written alike
     */
    record Scalar(
            Map<String, Object> schema,
            Function<String, Object> read,
            boolean isText,
            boolean isToldInParts,
            boolean hasOneSpelling)
            implements TypeNode {}

    /**
     * A value that may be {@code null} in JSON.
     *
     * @param absent what that is in Java
     * @param present what any other value is
     */
    record Absentable(TypeNode inner, @Nullable Object absent, Function<Object, Object> present) implements TypeNode {}

    /** How many elements there are. */
    record Bounds(int min, int max) {}

    /** A list, or a set, which holds equal elements once however often they are written. */
    record Elements(TypeNode element, Bounds bounds, boolean isSet) implements TypeNode {}

    /** A map. */
    record Entries(Scalar key, TypeNode value, Bounds bounds) implements TypeNode {}

    /** A component of a record. */
    record Component(String name, TypeNode node, String description) {}

    /** Makes a record of the values of its components. */
    interface Maker {
        /** The record; throws what its constructor throws. */
        Object make(@Nullable Object[] values);
    }

    /** A record. */
    final class RecordNode implements TypeNode {
        final String name;
        final String path;
        final String description;
        final Maker maker;
        private final Map<String, Integer> indices = new HashMap<>();
        private List<Component> components = List.of();

        /** @param path where it was first met */
        RecordNode(String name, String path, String description, Maker maker) {
            this.name = name;
            this.path = path;
            this.description = description;
            this.maker = maker;
        }

        void complete(List<Component> all) {
            components = List.copyOf(all);
            for (int index = 0; index < components.size(); index++) {
                indices.put(components.get(index).name(), index);
            }
        }

        /** Of the components by their names. */
        Map<String, Integer> indices() {
            return indices;
        }

        List<Component> components() {
            return components;
        }
    }

    /** A sealed interface: one of some records, told apart by their first property. */
    final class Choice implements TypeNode {
        final String name;
        final String description;
        final String discriminator;
        private Map<String, RecordNode> records = Map.of();

        Choice(String name, String description, String discriminator) {
            this.name = name;
            this.description = description;
            this.discriminator = discriminator;
        }

        void complete(Map<String, RecordNode> all) {
            records = all;
        }

        /** By their simple names, in the order in which the interface permits them. */
        Map<String, RecordNode> records() {
            return records;
        }
    }
}
