package roselle.server.openai.common;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import roselle.server.http.ApiException;
import roselle.server.http.Json;
import roselle.server.http.JsonFields;

/** Tool calls of earlier turns, on their way to the template. */
final class ToolCalls {
    private static final int MOST = 10_000;

    private ToolCalls() {}

    /** The call with its arguments as an object, which is how templates read them; OpenAI's API has them as text. */
    static Map<String, Object> forTemplate(JsonFields call) {
        call.requireDefault("type", "this server knows calls of functions alone", "function");
        JsonFields function = call.object("function").orElseThrow(() -> call.missing("function"));
        String name = function.requiredString("name");
        String arguments = function.string("arguments").orElse("{}");
        function.accept("parsed_arguments"); // what a client made of the text
        function.refuseOthers();
        Map<String, Object> plain = new LinkedHashMap<>();
        call.string("id").ifPresent(id -> plain.put("id", id));
        call.integer("index", 0, MOST); // as streams tell it
        call.refuseOthers();
        plain.put("type", "function");
        Map<String, Object> named = new LinkedHashMap<>(); // templates print it, so its order is that of the text
        named.put("name", name);
        named.put("arguments", parsed(function, arguments));
        plain.put("function", named);
        return plain;
    }

    private static Object parsed(JsonFields function, String arguments) {
        try {
            return Json.object(arguments.getBytes(StandardCharsets.UTF_8)).plain();
        } catch (ApiException _) {
            throw ApiException.invalid(
                    function.path("arguments"), function.path("arguments") + " is not the text of a JSON object");
        }
    }
}
