package roselle.structured;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import roselle.grammar.automaton.GrammarException;
import roselle.grammar.automaton.GrammarException.Reason;
import tools.jackson.databind.JsonNode;

/** One object of a structural tag, read field by field; refusals name the place by its JSON pointer. */
final class TagFields {
    private final JsonNode object;
    private final String pointer;
    private final TreeSet<String> unread;

    TagFields(JsonNode object, String pointer) {
        this.object = object;
        this.pointer = pointer;
        if (!object.isObject()) {
            throw new GrammarException(Reason.INVALID, pointer, "", "there must be an object.");
        }
        unread = new TreeSet<>(object.propertyNames());
    }

    String pointer() {
        return pointer;
    }

    /** A refusal of a field. */
    GrammarException refusal(Reason reason, String field, String message) {
        return new GrammarException(reason, pointer, field, message);
    }

    /** A field as it is; null where it is absent or null. */
    @Nullable
    JsonNode any(String field) {
        unread.remove(field);
        JsonNode value = object.get(field);
        return value == null || value.isNull() ? null : value;
    }

    JsonNode required(String field) {
        JsonNode value = any(field);
        if (value == null) {
            throw refusal(Reason.INVALID, field, "it is missing.");
        }
        return value;
    }

    String text(String field) {
        JsonNode value = required(field);
        if (!value.isString()) {
            throw refusal(Reason.INVALID, field, "it must be a string.");
        }
        return value.stringValue();
    }

    boolean flag(String field, boolean absent) {
        JsonNode value = any(field);
        if (value != null && !value.isBoolean()) {
            throw refusal(Reason.INVALID, field, "it must be true or false.");
        }
        return value == null ? absent : value.booleanValue();
    }

    int number(String field) {
        JsonNode value = required(field);
        if (!value.isIntegralNumber() || !value.canConvertToInt()) {
            throw refusal(Reason.INVALID, field, "it must be a whole number.");
        }
        return value.intValue();
    }

    /** The elements of a list; none where it is absent. */
    List<JsonNode> list(String field) {
        JsonNode value = any(field);
        if (value != null && !value.isArray()) {
            throw refusal(Reason.INVALID, field, "it must be a list.");
        }
        return value == null ? List.of() : value.valueStream().collect(Collectors.toList());
    }

    /** The elements of a list that has some. */
    List<JsonNode> some(String field) {
        List<JsonNode> values = list(field);
        if (values.isEmpty()) {
            throw refusal(Reason.INVALID, field, "there must be one at least.");
        }
        return values;
    }

    /** The elements of a list of texts, none of which is empty. */
    List<String> texts(String field) {
        var texts = new ArrayList<String>();
        for (JsonNode value : list(field)) {
            if (!value.isString() || value.stringValue().isEmpty()) {
                throw refusal(Reason.INVALID, field, "all of it must be strings that are not empty.");
            }
            texts.add(value.stringValue());
        }
        return texts;
    }

    /** A limit; -1 where it is absent. */
    int limit(String field) {
        if (any(field) == null) {
            return -1;
        }
        int limit = number(field);
        if (limit < 0) {
            throw refusal(Reason.INVALID, field, "it must not be negative.");
        }
        return limit;
    }

    void refuseOthers() {
        if (!unread.isEmpty()) {
            throw refusal(Reason.INVALID, unread.first(), "nothing of that name is known here.");
        }
    }
}
