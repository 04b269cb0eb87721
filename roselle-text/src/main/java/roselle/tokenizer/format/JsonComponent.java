package roselle.tokenizer.format;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import roselle.api.CheckpointException;
import roselle.tokenizer.unicode.WellFormed;
import tools.jackson.core.JsonToken;

/**
 * A small part of a tokenizer's JSON file as a tree: the object that describes one component. Values are checked when
 * they are asked for, and messages name the path.
 */
final class JsonComponent {
    private static final int MAXIMUM_VALUES = 1_000_000;
    private static final int MAX_PARTS = 64;
    private static final int MAX_PHRASE = 256;

    private final String origin;
    private final String path;
    private final Map<String, Object> fields; // String, Double, Long, Boolean, List, JsonComponent

    private JsonComponent(String origin, String path, Map<String, Object> fields) {
        this.origin = origin;
        this.path = path;
        this.fields = fields;
    }

    /** Reads the object that begins at the current token; {@code null} there is empty. */
    static Optional<JsonComponent> read(JsonSource source, String path) {
        if (source.current() == JsonToken.VALUE_NULL) {
            return Optional.empty();
        }
        source.expect(JsonToken.START_OBJECT, path);
        return Optional.of(new Reader(source).object(path));
    }

    /** Reads the array of objects that begins at the current token; {@code null} there is an empty one. */
    static List<JsonComponent> readAll(JsonSource source, String path) {
        List<JsonComponent> all = new ArrayList<>();
        if (source.current() == JsonToken.VALUE_NULL) {
            return all;
        }
        source.expect(JsonToken.START_ARRAY, path);
        var reader = new Reader(source);
        while (source.next() != JsonToken.END_ARRAY) {
            String element = path + "[" + all.size() + "]";
            source.expect(JsonToken.START_OBJECT, element);
            all.add(reader.object(element));
        }
        return all;
    }

    private static final class Reader {
        private final JsonSource source;
        private int values;

        Reader(JsonSource source) {
            this.source = source;
        }

        JsonComponent object(String path) {
            Map<String, Object> fields = new LinkedHashMap<>();
            while (source.next() != JsonToken.END_OBJECT) {
                String name = WellFormed.of(source.name());
                String at = path + "." + JsonSource.shortened(name);
                source.next();
                Object value = value(at);
                if (value != Missing.NULL && fields.put(name, value) != null) {
                    throw new CheckpointException(source.origin() + ": " + at + " is given twice");
                }
            }
            return new JsonComponent(source.origin(), path, fields);
        }

        private Object value(String path) {
            if (++values > MAXIMUM_VALUES) {
                throw new CheckpointException(
                        source.origin() + ": " + path + " is beyond the limit of " + MAXIMUM_VALUES + " values");
            }
            return switch (source.current()) {
                case START_OBJECT -> object(path);
                case START_ARRAY -> array(path);
                case VALUE_STRING -> source.string(path);
                case VALUE_TRUE, VALUE_FALSE -> source.flag(path);
                case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> source.number(path);
                default -> Missing.NULL;
            };
        }

        private List<Object> array(String path) {
            List<Object> elements = new ArrayList<>();
            while (source.next() != JsonToken.END_ARRAY) {
                elements.add(value(path + "[" + elements.size() + "]"));
            }
            return elements;
        }
    }

    /** JSON's null, which counts as absent. */
    private enum Missing {
        NULL
    }

    String path() {
        return path;
    }

    Set<String> names() {
        return fields.keySet();
    }

    /** The field {@code type}. */
    String type() {
        return string("type");
    }

    boolean has(String name) {
        return fields.containsKey(name);
    }

    String string(String name) {
        return value(name, String.class, "a string");
    }

    /** A string that is put into texts or looked for in them, so that its length is part of what a character costs. */
    String phrase(String name) {
        String phrase = string(name);
        if (phrase.length() > MAX_PHRASE) {
            throw new CheckpointException(
                    where(name) + " has " + phrase.length() + " characters, the limit is " + MAX_PHRASE);
        }
        return phrase;
    }

    /** This component, if sequences in it, named {@code list}, have no more parts in all than a text may pass. */
    JsonComponent withFewParts(String list) {
        if (countParts(list) > MAX_PARTS) {
            throw wrong("has more than " + MAX_PARTS + " parts: each text would pass all of them");
        }
        return this;
    }

    private int countParts(String list) {
        if (!type().equals("Sequence")) {
            return 1;
        }
        int parts = 0;
        for (JsonComponent part : components(list)) {
            parts = Math.min(MAX_PARTS + 1, parts + part.countParts(list));
        }
        return parts;
    }

    /** A token's spelling: a string, or an object with the field {@code content}. */
    String spelling(String name) {
        return fields.get(name) instanceof JsonComponent token ? token.string("content") : string(name);
    }

    boolean flag(String name) {
        return value(name, Boolean.class, "true or false");
    }

    boolean flag(String name, boolean fallback) {
        return has(name) ? flag(name) : fallback;
    }

    /** A whole number from 0 to 2³¹-1. */
    int count(String name) {
        return checkedCount(value(name, Double.class, "a number"), name);
    }

    private int checkedCount(double value, String name) {
        if (value < 0 || value > Integer.MAX_VALUE || value != Math.rint(value)) {
            throw new CheckpointException(
                    where(name) + " is " + value + ", it must be an integer from 0 to " + Integer.MAX_VALUE);
        }
        return (int) value;
    }

    /** A string of one character, as a code point. */
    int character(String name) {
        String text = string(name);
        if (text.isEmpty() || text.codePointCount(0, text.length()) != 1) {
            throw new CheckpointException(
                    where(name) + " is '" + JsonSource.shortened(text) + "', it must be one character");
        }
        return text.codePointAt(0);
    }

    JsonComponent component(String name) {
        return value(name, JsonComponent.class, "an object");
    }

    List<JsonComponent> components(String name) {
        return elements(name, JsonComponent.class, "objects");
    }

    List<String> strings(String name) {
        return elements(name, String.class, "strings");
    }

    /** An array of whole numbers from 0 to 2³¹-1. */
    int[] counts(String name) {
        return elements(name, Double.class, "numbers").stream()
                .mapToInt(value -> checkedCount(value, name))
                .toArray();
    }

    /** An array of a spelling and its id, in either order. */
    int idOfPair(String name) {
        for (Object element : value(name, List.class, "an array of a token and its id")) {
            if (element instanceof Double id) {
                return checkedCount(id, name);
            }
        }
        throw new CheckpointException(where(name) + " holds no token id");
    }

    private <T> List<T> elements(String name, Class<T> kind, String needed) {
        List<T> all = new ArrayList<>();
        for (Object element : value(name, List.class, "an array")) {
            if (!kind.isInstance(element)) {
                throw new CheckpointException(where(name) + " must be an array of " + needed);
            }
            all.add(kind.cast(element));
        }
        return all;
    }

    private <T> T value(String name, Class<T> kind, String needed) {
        Object value = fields.get(name);
        if (value == null) {
            throw new CheckpointException(where(name) + " is missing, it must be " + needed);
        }
        if (!kind.isInstance(value)) {
            String shown =
                    value instanceof JsonComponent ? "an object" : value instanceof List ? "an array" : value + "";
            throw new CheckpointException(
                    where(name) + " is " + JsonSource.shortened(shown) + ", it must be " + needed);
        }
        return kind.cast(value);
    }

    private String where(String name) {
        return origin + ": " + path + "." + name;
    }

    /** Says that the field {@code name} has a value that is not known. */
    CheckpointException unsupported(String name, String supported) {
        return new CheckpointException(where(name) + " is '" + JsonSource.shortened(string(name))
                + "', which is not supported: use one of " + supported);
    }

    /** Says that the component is wrong in another way. */
    CheckpointException wrong(String problem) {
        return new CheckpointException(origin + ": " + path + " " + problem);
    }
}
