package roselle.checkpoint.huggingface;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import roselle.api.CheckpointException;
import roselle.checkpoint.Metadata;
import roselle.checkpoint.file.FileField;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** The fields of one JSON object. */
public final class JsonMetadata implements Metadata {
    private final String origin;
    private final JsonNode fields;

    private JsonMetadata(String origin, JsonNode fields) {
        this.origin = origin;
        this.fields = fields;
    }

    static JsonMetadata read(Path path) {
        return new JsonMetadata(path.toString(), StrictJson.readObject(path));
    }

    /** An object within a file. */
    static JsonMetadata of(String origin, JsonNode object) {
        return new JsonMetadata(origin, object);
    }

    /** The object that a text holds, which lies somewhere in a file. */
    public static Metadata parse(String origin, byte[] json) {
        return new JsonMetadata(origin, StrictJson.readObject(origin, json));
    }

    /** Metadata without a key, for a file that is not there. */
    static JsonMetadata absent(Path path) {
        return new JsonMetadata(path + " (absent)", JsonNodeFactory.instance.objectNode());
    }

    @Override
    public Set<String> keys() {
        return Collections.unmodifiableSet(new LinkedHashSet<>(fields.propertyNames()));
    }

    @Override
    public boolean has(String key) {
        JsonNode value = fields.get(key);
        return value != null && !value.isNull();
    }

    @Override
    public boolean isOff(String key) {
        JsonNode value = fields.get(key);
        return !has(key) || (value.isBoolean() && !value.booleanValue()) || (value.isContainer() && value.isEmpty());
    }

    @Override
    public boolean isFlag(String key) {
        JsonNode value = fields.get(key);
        return value != null && value.isBoolean();
    }

    @Override
    public String string(String key) {
        JsonNode value = value(key);
        return stringOf(key, value);
    }

    @Override
    public String string(String key, String fallback) {
        return has(key) ? string(key) : fallback;
    }

    @Override
    public int integer(String key) {
        return intOf(key, value(key));
    }

    @Override
    public int integer(String key, int fallback) {
        return has(key) ? integer(key) : fallback;
    }

    @Override
    public long longInteger(String key) {
        return longOf(key, value(key));
    }

    @Override
    public double number(String key) {
        return numberOf(key, value(key));
    }

    @Override
    public double number(String key, double fallback) {
        return has(key) ? number(key) : fallback;
    }

    @Override
    public boolean flag(String key, boolean fallback) {
        return has(key) ? flagOf(key, value(key)) : fallback;
    }

    @Override
    public List<String> strings(String key) {
        List<String> strings = new ArrayList<>();
        for (JsonNode value : list(key)) {
            strings.add(stringOf(key, value));
        }
        return List.copyOf(strings);
    }

    @Override
    public int[] integers(String key) {
        if (value(key).isNumber()) {
            return new int[] {integer(key)};
        }
        List<JsonNode> values = list(key);
        int[] integers = new int[values.size()];
        for (int i = 0; i < integers.length; i++) {
            integers[i] = intOf(key, values.get(i));
        }
        return integers;
    }

    @Override
    public float[] numbers(String key) {
        List<JsonNode> values = list(key);
        float[] numbers = new float[values.size()];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = (float) numberOf(key, values.get(i));
        }
        return numbers;
    }

    @Override
    public boolean[] flags(String key) {
        List<JsonNode> values = list(key);
        boolean[] flags = new boolean[values.size()];
        for (int i = 0; i < flags.length; i++) {
            flags[i] = flagOf(key, values.get(i));
        }
        return flags;
    }

    @Override
    public Optional<Metadata> object(String key) {
        if (!has(key)) {
            return Optional.empty();
        }
        JsonNode value = value(key);
        if (!value.isObject()) {
            throw wrong(key, value, "an object");
        }
        return Optional.of(new JsonMetadata(origin + ": " + FileField.excerpt(key), value));
    }

    @Override
    public String origin() {
        return origin;
    }

    private JsonNode value(String key) {
        JsonNode value = fields.get(key);
        if (value == null || value.isNull()) {
            throw new CheckpointException(origin + " has no field " + FileField.excerpt(key));
        }
        return value;
    }

    private List<JsonNode> list(String key) {
        JsonNode value = value(key);
        if (!value.isArray()) {
            return List.of(value);
        }
        List<JsonNode> values = new ArrayList<>(value.size());
        value.forEach(values::add);
        return values;
    }

    private String stringOf(String key, JsonNode value) {
        if (!value.isString()) {
            throw wrong(key, value, "a string");
        }
        return value.stringValue();
    }

    private long longOf(String key, JsonNode value) {
        if (!value.isIntegralNumber() || !value.canConvertToLong()) {
            throw wrong(key, value, "an integer of 64 bits");
        }
        return value.longValue();
    }

    private int intOf(String key, JsonNode value) {
        long number = longOf(key, value);
        if (number != (int) number) {
            throw wrong(key, value, "an integer of 32 bits");
        }
        return (int) number;
    }

    private double numberOf(String key, JsonNode value) {
        if (value.path("__float__").asString("").equals("Infinity")) { // as transformers 5 writes it
            return Double.POSITIVE_INFINITY;
        }
        if (!value.isNumber()) {
            throw wrong(key, value, "a number");
        }
        return value.doubleValue();
    }

    private boolean flagOf(String key, JsonNode value) {
        if (!value.isBoolean()) {
            throw wrong(key, value, "true or false");
        }
        return value.booleanValue();
    }

    private CheckpointException wrong(String key, JsonNode value, String expected) {
        return new CheckpointException(origin + ": " + FileField.excerpt(key) + " is "
                + FileField.excerpt(value.toString()) + ", not " + expected);
    }
}
