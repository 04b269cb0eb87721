package roselle.server.openai.common;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import roselle.api.ResponseFormat;
import roselle.api.ResponseFormat.JsonOptions;
import roselle.api.ResponseFormat.KeyOrder;
import roselle.api.ResponseFormat.Whitespace;
import roselle.engine.Engine;
import roselle.server.http.ApiException;
import roselle.server.http.JsonFields;
import roselle.server.prompt.KeepableFormat;
import tools.jackson.databind.JsonNode;

/**
 * Reads what an answer must look like: OpenAI's {@code response_format} and {@code text.format}, vLLM's
 * {@code structured_outputs} and {@code guided_…}, llama.cpp's {@code json_schema} and {@code grammar}. At most one of them may say
 * so, and what the engine cannot keep to is refused with the name of the field that asks for it.
 */
public final class FormatFields {
    private static final int MAX_CHOICES = 100_000;
    private static final List<String> TAG_FIELDS = List.of("format", "structures", "triggers");

    private final Engine engine;
    private final Map<String, ResponseFormat> asked = new LinkedHashMap<>();

    private FormatFields(Engine engine) {
        this.engine = engine;
    }

    /** Reads the fields of a chat completion or of a completion. */
    public static ResponseFormat read(JsonFields fields, Engine engine) {
        var read = new FormatFields(engine);
        fields.object("response_format")
                .ifPresent(format -> read.responseFormat(format, fields.path("response_format")));
        fields.object("structured_outputs").ifPresent(read::structuredOutputs);
        read.schema(fields, "guided_json", JsonOptions.DEFAULT);
        read.schema(fields, "json_schema", JsonOptions.DEFAULT);
        read.regex(fields, "guided_regex");
        read.grammar(fields, "guided_grammar");
        read.grammar(fields, "grammar");
        read.choice(fields, "guided_choice");
        return read.only();
    }

    /** Reads {@code format} of a response's {@code text}. */
    public static ResponseFormat readText(JsonFields format, Engine engine) {
        var read = new FormatFields(engine);
        String type = format.string("type").orElse("text");
        if (read.isStructuralTag(format, type)) {
            return read.only();
        }
        String name = format.string("name").orElse("");
        format.string("description");
        format.bool("strict", true);
        if (type.equals("json_schema")) {
            requireName(format, name);
            read.requiredSchema(format);
        } else {
            read.plain(type, format);
        }
        format.refuseOthers();
        return read.only();
    }

    private void responseFormat(JsonFields format, String path) {
        String type = format.string("type").orElse("text");
        if (isStructuralTag(format, type)) {
            return;
        }
        var described = format.object("json_schema");
        boolean hasSchema = format.has("schema");
        if (type.equals("json_schema")) {
            if (hasSchema) {
                throw ApiException.invalid(
                        format.path("schema"), format.path("schema") + " stands beside json_schema: put it into it");
            }
            described.ifPresentOrElse(this::described, () -> {
                throw format.missing("json_schema");
            });
        } else if (described.isPresent()) {
            throw ApiException.invalid(
                    format.path("json_schema"), path + ".json_schema is there, but its type is " + type);
        } else {
            plain(type, format);
        }
        format.refuseOthers();
    }

    /** Reads a structural tag; fields of one are refused in a format of another type. */
    private boolean isStructuralTag(JsonFields format, String type) {
        List<String> ofTags = TAG_FIELDS.stream().filter(format::has).toList();
        if (type.equals("structural_tag")) {
            structuralTag(format.path(), format.json());
            return true;
        }
        if (!ofTags.isEmpty()) {
            String field = format.path(ofTags.getFirst());
            throw ApiException.invalid(field, field + " is there, but " + format.path("type") + " is " + type);
        }
        return false;
    }

    private void described(JsonFields schema) {
        requireName(schema, schema.requiredString("name"));
        schema.string("description");
        schema.bool("strict", true); // every schema is kept to
        requiredSchema(schema);
        schema.refuseOthers();
    }

    private static void requireName(JsonFields fields, String name) {
        if (name.isEmpty()) {
            throw fields.missing("name");
        }
    }

    private void requiredSchema(JsonFields fields) {
        JsonNode schema = fields.any("schema").orElseThrow(() -> fields.missing("schema"));
        put(fields.path("schema"), () -> new ResponseFormat.JsonSchema(schema.toString()));
    }

    /** Formats that need no name; some servers give an object's schema here. */
    private void plain(String type, JsonFields format) {
        var schema = format.any("schema");
        switch (type) {
            case "text" -> {
                if (schema.isPresent()) {
                    throw ApiException.invalid(
                            format.path("schema"), format.path("schema") + " is there, but the type is text");
                }
            }
            case "json_object" -> {
                if (schema.isPresent()) {
                    requiredSchema(format);
                } else {
                    put(format.path(), ResponseFormat.JsonObject::new);
                }
            }
            default ->
                throw ApiException.invalid(
                        format.path("type"),
                        format.path("type") + " is " + type
                                + ": it must be text, json_object, json_schema or structural_tag");
        }
    }

    private void structuredOutputs(JsonFields fields) {
        boolean isDense = fields.bool("disable_any_whitespace", false);
        var options = new JsonOptions(isDense ? Whitespace.NONE : Whitespace.BOUNDED, KeyOrder.ANY);
        schema(fields, "json", options);
        regex(fields, "regex");
        grammar(fields, "grammar");
        choice(fields, "choice");
        fields.any("structural_tag")
                .ifPresent(tag -> structuralTag(
                        fields.path("structural_tag"), tag.isString() ? tag.stringValue() : tag.toString()));
        if (fields.bool("json_object", false)) {
            put(fields.path("json_object"), () -> new ResponseFormat.JsonObject(options));
        }
        fields.bool("disable_fallback", false); // there is nothing to fall back to
        fields.requireDefault("disable_additional_properties", "say so in the schema", false);
        fields.refuseOthers();
    }

    /** A schema as JSON, or as a text that is JSON. */
    private void schema(JsonFields fields, String name, JsonOptions options) {
        fields.any(name).ifPresent(schema -> {
            String text = schema.isString() ? schema.stringValue() : schema.toString();
            put(fields.path(name), () -> new ResponseFormat.JsonSchema(text, options));
        });
    }

    private void regex(JsonFields fields, String name) {
        fields.string(name).ifPresent(regex -> put(fields.path(name), () -> new ResponseFormat.Regex(regex)));
    }

    private void structuralTag(String path, String tag) {
        put(path, () -> new ResponseFormat.StructuralTag(tag));
    }

    private void grammar(JsonFields fields, String name) {
        fields.string(name).ifPresent(grammar -> put(fields.path(name), () -> new ResponseFormat.Grammar(grammar)));
    }

    private void choice(JsonFields fields, String name) {
        if (fields.has(name)) {
            List<String> texts = fields.strings(name, MAX_CHOICES);
            put(fields.path(name), () -> new ResponseFormat.Choice(texts));
        }
    }

    private void put(String path, Supplier<ResponseFormat> maker) {
        asked.put(path, KeepableFormat.of(engine, path, maker));
    }

    private ResponseFormat only() {
        if (asked.size() > 1) {
            var paths = new ArrayList<>(asked.keySet());
            throw ApiException.invalid(
                    paths.get(1),
                    "both " + paths.get(0) + " and " + paths.get(1) + " say what the answer must look like");
        }
        return asked.isEmpty() ? ResponseFormat.TEXT : asked.values().iterator().next();
    }
}
