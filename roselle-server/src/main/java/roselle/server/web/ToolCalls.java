package roselle.server.web;

import java.io.IOException;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.stream.Collectors;
import roselle.server.access.OriginCheck;
import roselle.server.config.PageTools;
import roselle.server.http.ApiException;
import roselle.server.http.ErrorKind;
import roselle.server.http.Exchange;
import roselle.server.http.JsonFields;
import roselle.server.http.JsonWriter;
import roselle.server.http.Routes;
import tools.jackson.databind.json.JsonMapper;

/**
 * Which tools the page may offer to a model, and the way to call one.
 *
 * <p>A call does something on this machine, so that no other page may make one, not even such as may ask for answers; the path is
 * there only where the server was started with tools.
 */
final class ToolCalls {
    private static final System.Logger LOG = System.getLogger(ToolCalls.class.getName());

    static final String PATH = "/page/tools";
    /** Characters of a call's arguments. */
    static final int MOST_CHARACTERS = 1 << 20;

    private static final int AT_A_TIME = 8;

    private final PageTools tools;
    private final byte[] forms;
    private final Set<String> names;
    private final Semaphore room = new Semaphore(AT_A_TIME);

    ToolCalls(PageTools tools) {
        this.tools = tools;
        forms = JsonMapper.shared().writeValueAsBytes(tools.forms());
        names = tools.forms().stream().map(ToolCalls::name).collect(Collectors.toUnmodifiableSet());
    }

    private static String name(Map<String, Object> form) {
        return form.get("function") instanceof Map<?, ?> function ? String.valueOf(function.get("name")) : "";
    }

    void register(Routes routes) {
        routes.get(PATH, this::list);
        if (!names.isEmpty()) {
            routes.post(PATH, this::call);
        }
    }

    private void list(Exchange exchange) {
        exchange.sendJson(
                200, new JsonWriter().object().name("tools").json(forms).endObject());
    }

    private void call(Exchange exchange) throws IOException {
        if (!OriginCheck.isOwnPage(exchange)) {
            throw new ApiException(ErrorKind.ORIGIN_NOT_ALLOWED, "tools are called by this server's own page alone");
        }
        JsonFields fields = exchange.json();
        String name = fields.requiredString("name");
        String arguments = fields.string("arguments").orElse("{}");
        fields.refuseOthers();
        if (!names.contains(name)) {
            throw new ApiException(ErrorKind.NOT_FOUND, "there is no tool " + name);
        }
        if (arguments.length() > MOST_CHARACTERS) {
            throw new ApiException(
                    ErrorKind.BODY_TOO_LARGE,
                    "arguments has " + arguments.length() + " characters: " + MOST_CHARACTERS + " at most");
        }
        exchange.sendJson(
                200,
                new JsonWriter()
                        .object()
                        .field("content", called(name, arguments))
                        .endObject());
    }

    private String called(String name, String arguments) {
        if (!room.tryAcquire()) {
            throw new ApiException(ErrorKind.OVERLOADED, AT_A_TIME + " calls of tools are not answered yet: try again");
        }
        try {
            return tools.call(name, arguments);
        } catch (RuntimeException failure) { // the user and the model read it, as they do what a tool refuses
            LOG.log(System.Logger.Level.WARNING, "event=tool_failed tool={0} failure={1}", name, failure);
            return "error: " + failure.getMessage();
        } finally {
            room.release();
        }
    }
}
