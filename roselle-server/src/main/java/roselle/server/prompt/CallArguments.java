package roselle.server.prompt;

import java.nio.charset.StandardCharsets;
import roselle.server.http.ApiException;
import roselle.server.http.Json;
import roselle.server.http.JsonWriter;

/** Arguments of calls for APIs that have them as objects, while models write texts. */
public final class CallArguments {
    /** Under this name is the text of arguments that are no object, because the answer was cut among them as a rule. */
    private static final String INVALID = "INVALID_JSON";

    private CallArguments() {}

    public static void write(JsonWriter json, String arguments) {
        if (arguments.isEmpty()) {
            json.object().endObject();
        } else if (isObject(arguments)) {
            json.json(arguments.getBytes(StandardCharsets.UTF_8));
        } else {
            json.object().field(INVALID, arguments).endObject();
        }
    }

    private static boolean isObject(String arguments) {
        try {
            Json.object(arguments.getBytes(StandardCharsets.UTF_8));
            return true;
        } catch (ApiException _) {
            return false;
        }
    }
}
