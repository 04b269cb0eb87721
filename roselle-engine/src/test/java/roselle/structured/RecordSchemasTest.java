package roselle.structured;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import roselle.grammar.Constraints;
import roselle.grammar.GrammarLimits;
import roselle.grammar.mask.TokenMask;
import roselle.grammar.mask.TokenMasks;
import roselle.grammar.mask.TokenMatcher;
import roselle.grammar.mask.Vocabulary;
import roselle.grammar.schema.SchemaOptions;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Jackson reads whatever walks through the masks of schemas write, such as stand for records. */
final class RecordSchemasTest {
    private static final JsonMapper JSON = new JsonMapper();
    private static final int SCHEMAS = 250;
    private static final int WALKS = 4;
    private static final int LONGEST = 3000;
    private static final String[] PIECES = {
        "{\"", "\":", "\": ", ",\"", ", \"", "\"}", "\"]", "true", "false", "null", "}}", "[]", "{}", "\\u00", "\\n",
        "\": \"", "ab", "name", "value", " the ", "12", "0.", "e1", "é", "2026-", "-0", "\n  ", "\n\t", "},{", "],["
    };
    private static final Vocabulary VOCABULARY = vocabulary();

    private static Vocabulary vocabulary() {
        var tokens = new ArrayList<byte[]>();
        for (int octet = 0; octet < 256; octet++) {
            tokens.add(new byte[] {(byte) octet});
        }
        for (String piece : PIECES) {
            tokens.add(piece.getBytes(StandardCharsets.UTF_8));
        }
        tokens.add(new byte[0]);
        return new Vocabulary(tokens.toArray(new byte[0][]), new int[] {tokens.size() - 1});
    }

    @Test
    void jacksonReadsEveryWalk() {
        int ended = 0;
        for (int number = 0; number < SCHEMAS; number++) {
            Map<String, Object> schema = record(new Random(number), 0);
            String text = JSON.writeValueAsString(schema);
            var masks = new TokenMasks(
                    Constraints.jsonSchema(text, SchemaOptions.GENERATING, GrammarLimits.DEFAULTS), VOCABULARY);
            for (int walk = 0; walk < WALKS; walk++) {
                String answer = walk(masks, new Random(1000L * number + walk));
                if (!answer.isEmpty()) {
                    ended++;
                    JsonNode value = JSON.readTree(answer);
                    assertThat(value.isObject()).as("%s of %s", answer, text).isTrue();
                    assertThat(fits(value, schema)).as("%s of %s", answer, text).isTrue();
                }
            }
        }
        assertThat(ended).isGreaterThan(SCHEMAS * WALKS * 9 / 10);
    }

    /** A record's schema: all components required, types as Java has them. */
    private static Map<String, Object> record(Random random, int depth) {
        Map<String, Object> properties = new LinkedHashMap<>();
        int components = random.nextInt(5);
        for (int component = 0; component < components; component++) {
            properties.put("c" + component + (random.nextInt(4) == 0 ? "ä" : ""), component(random, depth));
        }
        return Map.of(
                "type",
                "object",
                "properties",
                properties,
                "required",
                List.copyOf(properties.keySet()),
                "additionalProperties",
                false);
    }

    private static Map<String, Object> component(Random random, int depth) {
        return switch (random.nextInt(depth < 2 ? 9 : 6)) {
            case 0 -> Map.of("type", "string", "maxLength", random.nextInt(12));
            case 1 -> Map.of("type", "integer", "minimum", Integer.MIN_VALUE, "maximum", Integer.MAX_VALUE);
            case 2 -> Map.of("type", "number", "minimum", -1e6, "maximum", 1e6);
            case 3 -> Map.of("type", "boolean");
            case 4 -> Map.of("enum", List.of("RED", "GREEN", "BLUE"));
            case 5 ->
                Map.of(
                        "type",
                        "string",
                        "format",
                        List.of("date", "time", "uuid").get(random.nextInt(3)));
            case 6 -> Map.of("anyOf", List.of(component(random, depth + 1), Map.of("type", "null")));
            case 7 -> Map.of("type", "array", "maxItems", random.nextInt(4), "items", component(random, depth + 1));
            default -> record(random, depth + 1);
        };
    }

    private static boolean fits(JsonNode value, Map<String, Object> schema) {
        if (schema.get("anyOf") instanceof List<?> either) {
            return value.isNull() || fits(value, part(either.getFirst()));
        }
        if (schema.get("enum") instanceof List<?> names) {
            return value.isString() && names.contains(value.stringValue());
        }
        return switch (String.valueOf(schema.get("type"))) {
            case "object" -> {
                Map<String, Object> properties = part(schema.get("properties"));
                yield value.size() == properties.size()
                        && properties.entrySet().stream()
                                .allMatch(each -> value.has(each.getKey())
                                        && fits(value.get(each.getKey()), part(each.getValue())));
            }
            case "array" ->
                value.isArray() && value.valueStream().allMatch(each -> fits(each, part(schema.get("items"))));
            case "integer" -> value.isNumber() && value.canConvertToInt();
            case "number" -> value.isNumber() && Math.abs(value.doubleValue()) <= 1e6;
            case "boolean" -> value.isBoolean();
            default -> value.isString();
        };
    }

    @SuppressWarnings("unchecked") // schemas are made here
    private static Map<String, Object> part(@Nullable Object schema) {
        return (Map<String, Object>) Objects.requireNonNull(schema);
    }

    /** What a walk writes; empty where it grows too long. */
    private static String walk(TokenMasks masks, Random random) {
        TokenMatcher matcher = masks.matcher();
        var text = new ByteArrayOutputStream();
        int end = VOCABULARY.size() - 1;
        while (text.size() < LONGEST) {
            TokenMask mask = matcher.mask();
            assertThat(mask.count()).as("tokens behind %s", text).isPositive();
            if (mask.allows(end)) {
                return text.toString(StandardCharsets.UTF_8);
            }
            int token = pick(mask, random);
            assertThat(matcher.advance(token)).isTrue();
            text.writeBytes(
                    token < 256 ? new byte[] {(byte) token} : PIECES[token - 256].getBytes(StandardCharsets.UTF_8));
        }
        return "";
    }

    private static int pick(TokenMask mask, Random random) {
        int wanted = random.nextInt(mask.count());
        for (int token = 0; ; token++) {
            if (mask.allows(token) && wanted-- == 0) {
                return token;
            }
        }
    }
}
