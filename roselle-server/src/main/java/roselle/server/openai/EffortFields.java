package roselle.server.openai;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import roselle.api.Prompt;
import roselle.engine.Engine;
import roselle.server.http.ApiException;
import roselle.server.http.JsonFields;

/** How much a model is asked to think and to write: for the chat templates that know a word for it. */
final class EffortFields {
    private static final List<String> EFFORTS = List.of("none", "minimal", "low", "medium", "high", "xhigh", "max");
    private static final List<String> VERBOSITIES = List.of("low", "medium", "high");
    private static final String EFFORT = "reasoning_effort";
    private static final String THINKING = "enable_thinking";
    private static final String VERBOSITY = "verbosity";

    private EffortFields() {}

    /** The prompt with what the template is told of it. */
    static Prompt.Chat apply(JsonFields fields, Prompt.Chat prompt, Engine engine) {
        Map<String, Object> variables = new HashMap<>(prompt.variables());
        fields.string(EFFORT).ifPresent(effort -> effort(oneOf(EFFORT, effort, EFFORTS), variables, engine));
        fields.string(VERBOSITY).ifPresent(verbosity -> {
            oneOf(VERBOSITY, verbosity, VERBOSITIES);
            if (engine.chatTemplateMentions(VERBOSITY)) {
                variables.put(VERBOSITY, verbosity);
            } else if (!verbosity.equals("medium")) {
                throw unknown(VERBOSITY, verbosity);
            }
        });
        return new Prompt.Chat(prompt.messages(), prompt.tools(), variables);
    }

    private static void effort(String effort, Map<String, Object> variables, Engine engine) {
        if (engine.chatTemplateMentions(EFFORT)) {
            variables.put(EFFORT, effort);
        } else if (engine.chatTemplateMentions(THINKING)) {
            variables.put(THINKING, !effort.equals("none"));
        } else if (!effort.equals("none")) {
            throw unknown(EFFORT, effort);
        }
    }

    private static String oneOf(String field, String value, List<String> values) {
        if (!values.contains(value)) {
            throw ApiException.invalid(field, field + " must be one of " + String.join(", ", values));
        }
        return value;
    }

    private static ApiException unknown(String field, String value) {
        return ApiException.invalid(
                field, field + " is " + value + ": the model's chat template has no word for it, so leave it out");
    }
}
