package roselle.gotemplate.value;

import java.util.List;
import java.util.Optional;

/**
 * A value with fields of its own, each of which a template finds by its name.
 *
 * @param type what errors call it
 */
public record Struct(String type, List<Field> fields, Spelling spelling) {
    /**
     * A field.
     *
     * @param key its name in JSON
     * @param isLeftOutEmpty whether JSON has it only where it says something
     */
    public record Field(String name, String key, boolean isLeftOutEmpty, Object value) {}

    public Struct {
        fields = List.copyOf(fields);
    }

    public Optional<Object> find(String name) {
        return fields.stream()
                .filter(field -> field.name().equals(name))
                .map(Field::value)
                .findFirst();
    }
}
