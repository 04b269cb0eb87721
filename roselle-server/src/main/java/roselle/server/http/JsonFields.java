package roselle.server.http;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * The fields of a JSON object from a stranger, each read with its type and range, and none left over.
 *
 * <p>A reader asks for every field that it honours and ends with {@link #refuseOthers}. A field that is {@code null} counts as
 * absent. Every refusal names the field, the value and what it must be.
 */
public final class JsonFields {
    private final String path;
    private final JsonNode node;
    private final Set<String> known = new HashSet<>();
    private final List<JsonFields> children = new ArrayList<>();

    JsonFields(String path, JsonNode node) {
        this.path = path;
        this.node = node;
    }

    /** Where a field is, such as {@code messages[0].role}. */
    public String path(String name) {
        return path.isEmpty() ? name : path + "." + name;
    }

    /** Where this object is; empty for the whole body. */
    public String path() {
        return path;
    }

    public boolean has(String name) {
        return value(name) != null;
    }

    public Optional<String> string(String name) {
        JsonNode value = value(name);
        return value == null ? Optional.empty() : Optional.of(string(value, path(name)));
    }

    public String requiredString(String name) {
        return string(name).orElseThrow(() -> missing(name));
    }

    /** A refusal of a body without a field that must be there. */
    public ApiException missing(String name) {
        return new ApiException(ErrorKind.MISSING_FIELD, path(name), path(name) + " is missing: it is required");
    }

    private static String string(JsonNode value, String path) {
        if (!value.isString()) {
            throw wrongType(path, value, "a string");
        }
        return value.stringValue();
    }

    public boolean bool(String name, boolean otherwise) {
        JsonNode value = value(name);
        if (value == null) {
            return otherwise;
        }
        if (!value.isBoolean()) {
            throw wrongType(path(name), value, "true or false");
        }
        return value.booleanValue();
    }

    public OptionalInt integer(String name, int least, int most) {
        OptionalLong value = longInteger(name, least, most);
        return value.isPresent() ? OptionalInt.of((int) value.getAsLong()) : OptionalInt.empty();
    }

    public OptionalLong longInteger(String name, long least, long most) {
        JsonNode value = value(name);
        return value == null ? OptionalLong.empty() : OptionalLong.of(integer(value, path(name), least, most));
    }

    private static long integer(JsonNode value, String path, long least, long most) {
        if (!value.isIntegralNumber()) {
            throw wrongType(path, value, "an integer");
        }
        if (!value.canConvertToLong() || value.longValue() < least || value.longValue() > most) {
            throw outOfRange(path, value, Long.toString(least), Long.toString(most));
        }
        return value.longValue();
    }

    public OptionalDouble number(String name, double least, double most) {
        JsonNode value = value(name);
        return value == null ? OptionalDouble.empty() : OptionalDouble.of(number(value, path(name), least, most));
    }

    private static double number(JsonNode value, String path, double least, double most) {
        if (!value.isNumber()) {
            throw wrongType(path, value, "a number");
        }
        double number = value.asDouble();
        if (!(number >= least && number <= most)) {
            throw outOfRange(path, value, text(least), text(most));
        }
        return number;
    }

    private static String text(double bound) {
        return bound == Math.rint(bound) ? Long.toString((long) bound) : Double.toString(bound);
    }

    /** A list of strings, or a string alone. */
    public List<String> strings(String name, int most) {
        JsonNode value = value(name);
        if (value == null) {
            return List.of();
        }
        if (value.isString()) {
            return List.of(value.stringValue());
        }
        var strings = new ArrayList<String>();
        for (JsonNode each : array(value, path(name), "a string or an array of strings", most)) {
            strings.add(string(each, path(name) + "[" + strings.size() + "]"));
        }
        return strings;
    }

    /** A list of integers. */
    public List<Integer> integers(String name, int least, int most, int mostElements) {
        JsonNode value = value(name);
        return value == null ? List.of() : integers(value, path(name), least, most, mostElements);
    }

    /** The integers of an array that is somewhere in this object. */
    public static List<Integer> integers(JsonNode value, String path, int least, int most, int mostElements) {
        var integers = new ArrayList<Integer>(value.size());
        for (JsonNode each : array(value, path, "an array of integers", mostElements)) {
            integers.add((int) integer(each, path + "[" + integers.size() + "]", least, most));
        }
        return integers;
    }

    /** Numbers by an integer in decimal, such as {@code {"42": -100}}. */
    public Map<Integer, Float> numbersById(String name, double least, double most, int mostEntries) {
        JsonNode value = value(name);
        if (value == null) {
            return Map.of();
        }
        if (!value.isObject()) {
            throw wrongType(path(name), value, "an object of token ids and numbers");
        }
        requireAtMost(value, path(name), mostEntries);
        var numbers = new java.util.HashMap<Integer, Float>();
        for (var entry : value.properties()) {
            String at = path(name) + "." + entry.getKey();
            numbers.put(id(entry.getKey(), at), (float) number(entry.getValue(), at, least, most));
        }
        return numbers;
    }

    private static int id(String text, String path) {
        boolean isDecimal =
                !text.isEmpty() && text.length() < 10 && text.chars().allMatch(digit -> digit >= '0' && digit <= '9');
        if (!isDecimal || (text.startsWith("0") && text.length() > 1)) { // 07 would be 7 a second time
            throw ApiException.invalid(path, path + " is no token id: ids are numbers from 0");
        }
        return Integer.parseInt(text);
    }

    public Optional<JsonFields> object(String name) {
        JsonNode value = value(name);
        return value == null ? Optional.empty() : Optional.of(object(value, path(name)));
    }

    /** An object as {@code reading} sees it, which may put values in the place of texts that stand for them. */
    public Optional<JsonFields> object(String name, UnaryOperator<JsonNode> reading) {
        JsonNode value = value(name);
        return value == null ? Optional.empty() : Optional.of(object(reading.apply(value), path(name)));
    }

    private JsonFields object(JsonNode value, String at) {
        if (!value.isObject()) {
            throw wrongType(at, value, "an object");
        }
        var child = new JsonFields(at, value);
        children.add(child);
        return child;
    }

    public List<JsonFields> objects(String name, int most) {
        JsonNode value = value(name);
        if (value == null) {
            return List.of();
        }
        var objects = new ArrayList<JsonFields>();
        for (JsonNode each : array(value, path(name), "an array of objects", most)) {
            objects.add(object(each, path(name) + "[" + objects.size() + "]"));
        }
        return objects;
    }

    /** A field of any type, for readers that tell several apart. */
    public Optional<JsonNode> any(String name) {
        return Optional.ofNullable(value(name));
    }

    /** Everything in this object as lists, maps, texts, numbers and booleans; every field then counts as read. */
    @SuppressWarnings("unchecked")
    public Map<String, Object> plain() {
        node.propertyNames().forEach(known::add);
        return (Map<String, Object>) java.util.Objects.requireNonNull(Json.plain(node));
    }

    /** This object as JSON; every field then counts as read. */
    public String json() {
        node.propertyNames().forEach(known::add);
        return node.toString();
    }

    /** Fields that are right to send and change nothing. */
    public void accept(String... names) {
        known.addAll(List.of(names));
    }

    /** Refuses a field unless it is absent or has one of the values that say what happens anyway. */
    public void requireDefault(String name, String why, Object... defaults) {
        JsonNode value = value(name);
        if (value != null && !List.of(defaults).contains(Json.plain(value))) {
            throw ApiException.invalid(path(name), path(name) + " is " + shown(value) + ": " + why);
        }
    }

    /** Every field that was asked for, there or not, here and below, such as {@code messages[].role}. */
    public Set<String> asked() {
        Set<String> asked = new TreeSet<>();
        known.forEach(name -> asked.add(withoutIndexes(path(name))));
        children.forEach(child -> asked.addAll(child.asked()));
        return asked;
    }

    private static String withoutIndexes(String at) {
        var plain = new StringBuilder();
        for (int index = 0; index < at.length(); index++) {
            plain.append(at.charAt(index));
            if (at.charAt(index) == '[') {
                index = at.indexOf(']', index) - 1;
            }
        }
        return plain.toString();
    }

    /** Refuses fields that nobody asked for. */
    public void refuseOthers() {
        for (String name : node.propertyNames()) {
            if (!known.contains(name)) {
                throw new ApiException(
                        ErrorKind.UNKNOWN_FIELD,
                        path(clipped(name)),
                        "unknown field " + path(clipped(name)) + ": it would have no effect, so leave it out");
            }
        }
    }

    private @Nullable JsonNode value(String name) {
        known.add(name);
        JsonNode value = node.get(name);
        return value == null || value.isNull() ? null : value;
    }

    private static Iterable<JsonNode> array(JsonNode value, String path, String wanted, int most) {
        if (!value.isArray()) {
            throw wrongType(path, value, wanted);
        }
        requireAtMost(value, path, most);
        return value.values();
    }

    private static void requireAtMost(JsonNode value, String path, int most) {
        if (value.size() > most) {
            throw ApiException.invalid(path, path + " has " + value.size() + " entries: at most " + most);
        }
    }

    /** A refusal of a value of another type than the wanted one. */
    public static ApiException wrongType(String path, JsonNode value, String wanted) {
        return new ApiException(ErrorKind.WRONG_TYPE, path, path + " is " + shown(value) + ": it must be " + wanted);
    }

    private static ApiException outOfRange(String path, JsonNode value, String least, String most) {
        return new ApiException(
                ErrorKind.OUT_OF_RANGE,
                path,
                path + " is " + shown(value) + ": it must be between " + least + " and " + most);
    }

    private static String shown(JsonNode value) {
        if (value.isObject() || value.isArray()) {
            return value.isObject() ? "an object" : "an array";
        }
        return clipped(value.toString());
    }

    private static String clipped(String text) {
        return text.length() <= 64 ? text : text.substring(0, 64) + "…";
    }
}
