package roselle.bench.yaml;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import roselle.api.InvalidRequestException;

/**
 * A value of a YAML file: a text, a list or a map, with the line it begins at.
 *
 * <p>Every scalar is a text; who reads it knows whether it is a number. Anchors, tags, documents, folded and multi-line
 * texts are refused: a file of settings needs none, and each has its traps.
 */
public sealed interface Yaml {
    int line();

    /** A scalar. */
    record Text(int line, String value) implements Yaml {}

    /** A sequence. */
    record Items(int line, List<Yaml> values) implements Yaml {
        public Items {
            values = List.copyOf(values);
        }
    }

    /** A mapping, in the order of the file. */
    record Fields(int line, Map<String, Yaml> values) implements Yaml {
        /** Refuses keys that are not among these. */
        public Fields allowing(Set<String> known) {
            values.forEach((key, value) -> {
                if (!known.contains(key)) {
                    throw new InvalidRequestException(
                            "line " + value.line() + ": " + key + " is not known here: there are "
                                    + String.join(", ", known.stream().sorted().toList()));
                }
            });
            return this;
        }

        public Optional<Yaml> field(String key) {
            return Optional.ofNullable(values.get(key));
        }

        /** The text of a key. */
        public Optional<String> text(String key) {
            return field(key).map(value -> value.asText(key));
        }
    }

    /** Reads a whole file's text; its top is a map. */
    static Fields parse(String source) {
        return new YamlReader(source).document();
    }

    default String asText(String name) {
        if (this instanceof Text text) {
            return text.value();
        }
        throw new InvalidRequestException("line " + line() + ": " + name + " has to be a single value");
    }

    default Fields asFields(String name) {
        if (this instanceof Fields fields) {
            return fields;
        }
        throw new InvalidRequestException("line " + line() + ": " + name + " has to be a map of keys and values");
    }

    /** A list; a single text counts as a list of one. */
    default List<Yaml> asItems(String name) {
        return switch (this) {
            case Items items -> items.values();
            case Text text -> List.of(text);
            case Fields _ -> throw new InvalidRequestException("line " + line() + ": " + name + " has to be a list");
        };
    }
}
