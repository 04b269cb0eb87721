package roselle.bench.backend;

import tools.jackson.databind.json.JsonMapper;

/** Values as JSON. */
final class Json {
    private static final JsonMapper MAPPER = new JsonMapper();

    private Json() {}

    static String text(String value) {
        return value(value);
    }

    static String value(Object value) {
        return MAPPER.writeValueAsString(value);
    }
}
