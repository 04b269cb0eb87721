package roselle.server.web;

import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import roselle.server.config.PageTools;

/** A tool that answers and one whose server is gone; what was called is noted. */
final class ScriptedTools implements PageTools {
    private final LinkedBlockingQueue<String> calls = new LinkedBlockingQueue<>();

    @Override
    public List<Map<String, Object>> forms() {
        return List.of(form("get_weather"), form("gone"));
    }

    private static Map<String, Object> form(String name) {
        return Map.of(
                "type",
                "function",
                "function",
                Map.of("name", name, "description", "About the " + name, "parameters", Map.of("type", "object")));
    }

    @Override
    public String call(String name, String arguments) {
        calls.add(name + arguments);
        if (name.equals("gone")) {
            throw new IllegalStateException("the MCP server of gone has failed: it has ended");
        }
        return "<b>sunny</b>";
    }

    /** The calls that were made, each a name and its arguments. */
    List<String> made() {
        return List.copyOf(calls);
    }
}
