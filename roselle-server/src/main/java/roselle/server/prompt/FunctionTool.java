package roselle.server.prompt;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import roselle.server.http.ApiException;
import roselle.server.http.JsonFields;

/** Functions that a model may call, as chat templates print them, in the order that models were trained with. */
public final class FunctionTool {
    private FunctionTool() {}

    /** A described function as one of the tools. */
    public static Map<String, Object> of(Map<String, Object> function) {
        Map<String, Object> tool = new LinkedHashMap<>();
        tool.put("type", "function");
        tool.put("function", function);
        return tool;
    }

    /**
     * Reads what describes a function: name, description, parameters, and whether calls are held to these.
     *
     * @param parameters the field that has the schema of the parameters
     */
    public static Map<String, Object> function(JsonFields fields, String parameters) {
        Map<String, Object> read = new LinkedHashMap<>();
        String name = fields.requiredString("name");
        if (name.isEmpty()) {
            throw ApiException.invalid(fields.path("name"), fields.path("name") + " is empty: a function has a name");
        }
        read.put("name", name);
        fields.string("description").ifPresent(text -> read.put("description", text));
        Optional<JsonFields> schema = fields.object(parameters);
        schema.ifPresent(given -> read.put("parameters", given.plain()));
        if (fields.bool("strict", false)) {
            read.put("strict", true);
        }
        return read;
    }
}
