package roselle.langchain4j;

import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.internal.Json;
import dev.langchain4j.internal.JsonSchemaElementJsonUtils;
import dev.langchain4j.model.chat.request.json.JsonRawSchema;
import dev.langchain4j.model.chat.request.json.JsonSchema;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** LangChain4j's schemas and tools as JSON. */
final class Schemas {
    private Schemas() {}

    /** A schema of answers. Objects have no properties but those that they name, unless they say that they may; a raw schema is as it is. */
    static String json(JsonSchema schema) {
        return schema.rootElement() instanceof JsonRawSchema raw
                ? raw.schema()
                : Json.toJson(closed(JsonSchemaElementJsonUtils.toMap(schema.rootElement())));
    }

    private static Map<?, ?> closed(Map<?, ?> schema) {
        Map<Object, Object> copy = new LinkedHashMap<>();
        schema.forEach((key, value) -> copy.put(key, closed(value)));
        if ("object".equals(schema.get("type"))) {
            copy.putIfAbsent("additionalProperties", false);
        }
        return copy;
    }

    private static Object closed(Object value) {
        return switch (value) {
            case Map<?, ?> map -> closed(map);
            case List<?> list -> list.stream().map(Schemas::closed).toList();
            default -> value;
        };
    }

    /** A tool in the JSON form of OpenAI's API, which chat templates print. */
    static Map<String, Object> tool(ToolSpecification specification) {
        Map<String, Object> function = new LinkedHashMap<>();
        function.put("name", specification.name());
        if (specification.description() != null) {
            function.put("description", specification.description());
        }
        function.put(
                "parameters",
                specification.parameters() == null
                        ? Map.of("type", "object", "properties", Map.of())
                        : JsonSchemaElementJsonUtils.toMap(specification.parameters()));
        if (specification.strict() != null) {
            function.put("strict", specification.strict());
        }
        return new LinkedHashMap<>(Map.of("type", "function", "function", function));
    }
}
