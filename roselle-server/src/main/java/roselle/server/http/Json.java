package roselle.server.http;

import java.io.ByteArrayInputStream;
import java.io.InputStreamReader;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import roselle.json.JsonLimits;
import tools.jackson.core.JacksonException;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Reads JSON from strangers: one document of strict JSON in strict UTF-8, each name once, within limits. */
public final class Json {
    /** Values, names and brackets: a prompt of a million token ids fits. The body's own limit is that of strings. */
    private static final JsonLimits LIMITS = JsonLimits.DEFAULT.withTokens(4_000_000);

    private static final String DUPLICATE = "Duplicate Object property ";

    private static final JsonMapper MAPPER = LIMITS.mapper();

    private Json() {}

    /** The object that a body is. */
    public static JsonFields object(byte[] body) {
        JsonNode node = value(body);
        if (!node.isObject()) {
            throw ApiException.invalid("", "the body is not a JSON object: send one, such as {\"model\": …}");
        }
        return new JsonFields("", node);
    }

    /** The fields of an object that the body has as a text, say. */
    public static JsonFields fields(String path, ObjectNode object) {
        return new JsonFields(path, object);
    }

    /** The value that a document is, decoded while it is parsed: a copy as text would take more memory than the body. */
    public static JsonNode value(byte[] body) {
        var text = new InputStreamReader(new ByteArrayInputStream(body), StandardCharsets.UTF_8.newDecoder());
        try {
            JsonNode node = MAPPER.readTree(text);
            if (node.isMissingNode()) {
                throw ApiException.invalid("", "the body is empty: send a JSON object");
            }
            requireWellFormed(node);
            return node;
        } catch (StreamConstraintsException _) {
            throw ApiException.invalid(
                    "",
                    "the body's JSON goes beyond a limit: nesting of %d, numbers of %d digits, names of %d characters, %d values"
                            .formatted(
                                    LIMITS.depth(),
                                    LIMITS.numberCharacters(),
                                    LIMITS.nameCharacters(),
                                    LIMITS.tokens()));
        } catch (JacksonException malformed) {
            throw malformed(malformed);
        }
    }

    private static ApiException malformed(JacksonException failure) {
        if (failure.getCause() instanceof CharacterCodingException) {
            return ApiException.invalid("", "the body is not text in UTF-8: encode it so");
        }
        String reason = String.valueOf(failure.getOriginalMessage());
        if (reason.startsWith(DUPLICATE)) {
            return ApiException.invalid("", "the body has a field twice: " + reason.substring(DUPLICATE.length()));
        }
        var location = failure.getLocation();
        return ApiException.invalid(
                "",
                "the body is not one document of valid JSON: see line %d, column %d"
                        .formatted(location.getLineNr(), location.getColumnNr()));
    }

    /** Half of a surrogate pair is no text; an escape can spell one. */
    private static void requireWellFormed(JsonNode node) {
        if (node.isString()) {
            requireWellFormed(node.stringValue());
        } else if (node.isObject()) {
            node.properties().forEach(field -> {
                requireWellFormed(field.getKey());
                requireWellFormed(field.getValue());
            });
        } else {
            node.values().forEach(Json::requireWellFormed);
        }
    }

    private static void requireWellFormed(String text) {
        for (int index = 0; index < text.length(); index++) {
            char unit = text.charAt(index);
            if (Character.isSurrogate(unit)) {
                boolean isPair = Character.isHighSurrogate(unit)
                        && index + 1 < text.length()
                        && Character.isLowSurrogate(text.charAt(index + 1));
                if (!isPair) {
                    throw ApiException.invalid(
                            "", "a text has half of a surrogate pair, \\u%04x: send whole characters".formatted((int)
                                            unit));
                }
                index++;
            }
        }
    }

    /** The same as lists, maps, texts, numbers, booleans and null. */
    static @Nullable Object plain(JsonNode node) {
        if (node.isObject()) {
            Map<String, @Nullable Object> map = new LinkedHashMap<>();
            node.properties().forEach(field -> map.put(field.getKey(), plain(field.getValue())));
            return map;
        }
        if (node.isArray()) {
            List<@Nullable Object> list = new ArrayList<>();
            node.values().forEach(each -> list.add(plain(each)));
            return list;
        }
        if (node.isNull()) {
            return null;
        }
        if (node.isString()) {
            return node.stringValue();
        }
        if (node.isBoolean()) {
            return node.booleanValue();
        }
        return node.isIntegralNumber() && node.canConvertToLong() ? (Object) node.longValue() : finite(node);
    }

    private static double finite(JsonNode node) {
        double value = node.asDouble();
        if (!Double.isFinite(value)) {
            throw ApiException.invalid("", "a number is beyond what a double holds: send a smaller one");
        }
        return value;
    }
}
