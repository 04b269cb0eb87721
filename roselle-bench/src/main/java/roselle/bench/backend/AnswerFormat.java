package roselle.bench.backend;

import roselle.api.InvalidRequestException;
import roselle.api.ResponseFormat;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * What all answers of a run must look like, as every engine can be asked for it.
 *
 * @param name in results
 * @param schema JSON, or empty for any text or any object
 */
public record AnswerFormat(String name, String schema) {
    /** Any text. */
    public static final AnswerFormat TEXT = new AnswerFormat("text", "");

    /** Any JSON object. */
    public static final AnswerFormat JSON = new AnswerFormat("json", "");

    public AnswerFormat {
        if (!schema.isEmpty()) {
            requireJson(name, schema);
        }
    }

    private static void requireJson(String name, String schema) {
        try {
            JsonMapper.shared().readTree(schema);
        } catch (JacksonException broken) {
            throw new InvalidRequestException(name + " is no JSON schema: " + broken.getOriginalMessage());
        }
    }

    public boolean isText() {
        return equals(TEXT);
    }

    /** The same for the library. */
    public ResponseFormat ofLibrary() {
        if (!schema.isEmpty()) {
            return new ResponseFormat.JsonSchema(schema);
        }
        return isText() ? ResponseFormat.TEXT : new ResponseFormat.JsonObject();
    }

    /** OpenAI's {@code response_format}; not for any text. */
    String ofOpenAi() {
        return schema.isEmpty()
                ? "{\"type\":\"json_object\"}"
                : "{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"bench\",\"strict\":true,\"schema\":" + schema
                        + "}}";
    }
}
