package roselle.grammar.schema;

import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** JSON texts as values; numbers keep all their digits. */
final class Values {
    private static final JsonMapper MAPPER = JsonMapper.builder()
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private Values() {}

    static JsonNode read(String text) {
        return MAPPER.readTree(text);
    }

    /** The string whose inside, without quotes, is spelled so. */
    static String readString(String inside) {
        return inside.indexOf('\\') < 0 ? inside : read('"' + inside + '"').stringValue();
    }
}
