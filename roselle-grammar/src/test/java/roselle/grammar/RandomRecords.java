package roselle.grammar;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Schemas as records, sealed interfaces, enums and collections have them. */
final class RandomRecords {
    private static final int MAX_DEPTH = 3;
    private static final List<String> STRINGS = List.of(
            "\"type\":\"string\"",
            "\"type\":\"string\",\"minLength\":1,\"maxLength\":12",
            "\"type\":\"string\",\"maxLength\":3",
            "\"type\":\"string\",\"pattern\":\"^[A-Z]{2,3}-[0-9]+$\"",
            "\"type\":\"string\",\"pattern\":\"^[a-z0-9_]{1,16}$\"",
            "\"type\":\"string\",\"format\":\"date\"",
            "\"type\":\"string\",\"format\":\"date-time\"",
            "\"type\":\"string\",\"format\":\"time\"",
            "\"type\":\"string\",\"format\":\"uuid\"",
            "\"enum\":[\"RED\",\"GREEN\",\"the \\\"best\\\"\",\"\u00e4\"]");
    private static final List<String> NUMBERS = List.of(
            "\"type\":\"integer\"",
            "\"type\":\"integer\",\"minimum\":-2147483648,\"maximum\":2147483647",
            "\"type\":\"integer\",\"minimum\":-9223372036854775808,\"maximum\":9223372036854775807",
            "\"type\":\"integer\",\"minimum\":0,\"exclusiveMaximum\":150",
            "\"type\":\"number\"",
            "\"type\":\"number\",\"minimum\":0,\"maximum\":1",
            "\"type\":\"number\",\"minimum\":-1e6,\"maximum\":1e6",
            "\"type\":\"number\",\"multipleOf\":0.01",
            "\"type\":\"boolean\"",
            "\"type\":[\"boolean\",\"null\"]");

    private final Random random;

    private RandomRecords(Random random) {
        this.random = random;
    }

    static String schema(Random random) {
        return "{" + new RandomRecords(random).record(0, "") + "}";
    }

    private String record(int depth, String kind) {
        List<String> members = new ArrayList<>();
        List<String> required = new ArrayList<>();
        if (!kind.isEmpty()) {
            members.add("\"kind\":{\"const\":\"" + kind + "\"}");
            required.add("\"kind\"");
        }
        int count = random.nextInt(6);
        for (int i = 0; i < count; i++) {
            String name = List.of("id", "name", "the", "total", "tags", "\u00e4", "a\\\"b")
                            .get(i)
                    + (random.nextBoolean() ? "" : Integer.toString(i));
            members.add("\"" + name + "\":{" + value(depth + 1) + "}");
            if (random.nextInt(3) > 0) {
                required.add("\"" + name + "\"");
            }
        }
        return "\"type\":\"object\",\"properties\":{" + String.join(",", members) + "},\"required\":["
                + String.join(",", required) + "],\"additionalProperties\":"
                + (required.isEmpty() && random.nextBoolean()); // else a random walk may never find what is required
    }

    private String value(int depth) {
        return switch (depth > MAX_DEPTH ? random.nextInt(4) : random.nextInt(9)) {
            case 0, 1 -> STRINGS.get(random.nextInt(STRINGS.size()));
            case 2, 3 -> NUMBERS.get(random.nextInt(NUMBERS.size()));
            case 4 -> record(depth, "");
            case 5 ->
                "\"type\":\"array\",\"items\":{" + value(depth + 1) + "},\"minItems\":" + random.nextInt(3)
                        + ",\"maxItems\":" + (3 + random.nextInt(3));
            case 6 -> "\"anyOf\":[{" + value(depth + 1) + "},{\"type\":\"null\"}]";
            case 7 -> "\"type\":\"object\",\"additionalProperties\":{" + value(depth + 1) + "},\"maxProperties\":4";
            default ->
                "\"oneOf\":[{" + record(depth + 1, "circle") + "},{" + record(depth + 1, "square") + "},{"
                        + record(depth + 1, "line") + "}]";
        };
    }
}
