package roselle.server.openai.common;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import roselle.api.Prompt;
import roselle.engine.Engine;
import roselle.server.http.ApiException;
import roselle.server.http.JsonFields;

/** How much a model is asked to think and to write: for the chat templates that know a word for it. */
public final class Effort {
    private static final List<String> EFFORTS = List.of("none", "minimal", "low", "medium", "high", "xhigh", "max");
    private static final List<String> VERBOSITIES = List.of("low", "medium", "high");
    private static final String EFFORT = "reasoning_effort";
    private static final String THINKING = "enable_thinking";
    private static final String VERBOSITY = "verbosity";

    private final Engine engine;
    private final Map<String, Object> variables = new HashMap<>();

    public Effort(Engine engine) {
        this.engine = engine;
    }

    /** Reads how much the model is to think. */
    public Effort think(JsonFields fields, String name) {
        fields.string(name).ifPresent(effort -> think(fields.path(name), effort));
        return this;
    }

    private void think(String path, String effort) {
        requireOneOf(path, effort, EFFORTS);
        if (engine.chatTemplateMentions(EFFORT)) {
            variables.put(EFFORT, effort);
        } else if (engine.chatTemplateMentions(THINKING)) {
            variables.put(THINKING, !effort.equals("none"));
        } else if (!effort.equals("none")) {
            throw unknown(path, effort);
        }
    }

    /** Reads how much the model is to write. */
    public Effort write(JsonFields fields, String name) {
        fields.string(name).ifPresent(verbosity -> write(fields.path(name), verbosity));
        return this;
    }

    private void write(String path, String verbosity) {
        requireOneOf(path, verbosity, VERBOSITIES);
        if (engine.chatTemplateMentions(VERBOSITY)) {
            variables.put(VERBOSITY, verbosity);
        } else if (!verbosity.equals("medium")) {
            throw unknown(path, verbosity);
        }
    }

    /** The prompt with what the template is told of it. */
    public Prompt.Chat in(Prompt.Chat prompt) {
        Map<String, Object> all = new HashMap<>(prompt.variables());
        all.putAll(variables);
        return new Prompt.Chat(prompt.messages(), prompt.tools(), all);
    }

    private static void requireOneOf(String path, String value, List<String> values) {
        if (!values.contains(value)) {
            throw ApiException.invalid(path, path + " must be one of " + String.join(", ", values));
        }
    }

    private static ApiException unknown(String path, String value) {
        return ApiException.invalid(
                path, path + " is " + value + ": the model's chat template has no word for it, so leave it out");
    }
}
