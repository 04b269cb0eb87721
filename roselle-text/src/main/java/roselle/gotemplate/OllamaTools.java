package roselle.gotemplate;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import roselle.gotemplate.value.Dictionary;
import roselle.gotemplate.value.Nil;
import roselle.gotemplate.value.Slice;
import roselle.gotemplate.value.Spelling;
import roselle.gotemplate.value.Struct;
import roselle.gotemplate.value.Struct.Field;

/** Tools as Ollama's templates see them: with the parts of their schemas that Ollama knows, in its order. */
final class OllamaTools {
    private OllamaTools() {}

    static Object read(@Nullable Object tools) {
        if (!(tools instanceof List<?> list)) {
            return Slice.none(Spelling.JSON);
        }
        List<Object> read = new ArrayList<>();
        list.forEach(tool -> read.add(tool(GoValues.map(tool))));
        return new Slice(read, Spelling.JSON);
    }

    private static Struct tool(Map<?, ?> tool) {
        return new Struct(
                "Tool",
                List.of(
                        new Field("Type", "type", false, GoValues.text(tool.get("type"))),
                        new Field("Items", "items", true, GoValues.of(tool.get("items"))),
                        new Field("Function", "function", false, function(GoValues.map(tool.get("function"))))),
                Spelling.JSON);
    }

    private static Struct function(Map<?, ?> function) {
        return new Struct(
                "ToolFunction",
                List.of(
                        new Field("Name", "name", false, GoValues.text(function.get("name"))),
                        new Field("Description", "description", true, GoValues.text(function.get("description"))),
                        new Field(
                                "Parameters",
                                "parameters",
                                false,
                                parameters(GoValues.map(function.get("parameters"))))),
                Spelling.JSON_ALONE);
    }

    private static Struct parameters(Map<?, ?> schema) {
        return new Struct(
                "ToolFunctionParameters",
                List.of(
                        new Field("Type", "type", false, GoValues.text(schema.get("type"))),
                        new Field("Defs", "$defs", true, GoValues.of(schema.get("$defs"))),
                        new Field("Items", "items", true, GoValues.of(schema.get("items"))),
                        new Field("Required", "required", true, list(schema.get("required"))),
                        new Field("Properties", "properties", false, properties(schema.get("properties")))),
                Spelling.JSON_ALONE);
    }

    private static Slice list(@Nullable Object list) {
        return list instanceof List<?> values ? new Slice(GoValues.all(values)) : Slice.none(Spelling.PLAIN);
    }

    private static Object properties(@Nullable Object properties) {
        if (!(properties instanceof Map<?, ?> map)) {
            return Nil.NIL;
        }
        Map<String, Object> read = new HashMap<>();
        map.forEach((name, property) -> read.put(String.valueOf(name), property(GoValues.map(property))));
        return Dictionary.of(read, Spelling.JSON);
    }

    private static Struct property(Map<?, ?> schema) {
        List<Object> options = new ArrayList<>();
        if (schema.get("anyOf") instanceof List<?> each) {
            each.forEach(option -> options.add(property(GoValues.map(option))));
        }
        return new Struct(
                "ToolProperty",
                List.of(
                        new Field("AnyOf", "anyOf", true, new Slice(options)),
                        new Field("Type", "type", true, type(schema.get("type"))),
                        new Field("Items", "items", true, GoValues.of(schema.get("items"))),
                        new Field("Description", "description", true, GoValues.text(schema.get("description"))),
                        new Field("Enum", "enum", true, list(schema.get("enum"))),
                        new Field("Properties", "properties", true, properties(schema.get("properties"))),
                        new Field("Required", "required", true, list(schema.get("required")))),
                Spelling.PLAIN);
    }

    /** One type, or several. */
    private static Slice type(@Nullable Object type) {
        List<Object> types =
                type instanceof String one ? List.of(one) : list(type).items();
        return new Slice(types, Spelling.ONE_AS_TEXT);
    }
}
