package roselle.server.prompt;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import roselle.api.Prompt;
import roselle.conversation.Effort;
import roselle.engine.Engine;
import roselle.server.config.ServedModel;
import roselle.server.http.ApiException;
import roselle.server.http.JsonFields;

/** The fields that say how much a model is to think and to write. */
public final class EffortFields {
    private final Effort effort;
    private final Map<String, Object> variables = new HashMap<>();

    /** Of chats with a model by its template. */
    public EffortFields(ServedModel model) {
        this(model.engine(), model.defaults().template());
    }

    /** Of chats by a template in Go's language, or the model's own where it is empty. */
    public EffortFields(Engine engine, String template) {
        effort = new Effort(variable -> engine.chatTemplateMentions(template, variable));
    }

    /** Reads how much the model is to think. */
    public EffortFields think(JsonFields fields, String name) {
        fields.string(name).ifPresent(asked -> {
            requireOneOf(fields.path(name), asked, Effort.THINKING);
            tell(fields.path(name), asked, effort.think(asked));
        });
        return this;
    }

    /** Reads how much the model is to write. */
    public EffortFields write(JsonFields fields, String name) {
        fields.string(name).ifPresent(asked -> {
            requireOneOf(fields.path(name), asked, Effort.VERBOSITIES);
            tell(fields.path(name), asked, effort.write(asked));
        });
        return this;
    }

    /**
     * Has the model think as much as an effort says where it thinks anyway: nothing is switched on by it.
     *
     * @param path the field that asks for it
     */
    public EffortFields scale(String path, String effortWord) {
        tell(path, effortWord, effort.scale(effortWord));
        return this;
    }

    /** Whether the model's chat template can be told of an effort to think. */
    public boolean hasWordFor(String effortWord) {
        return effort.think(effortWord).isPresent();
    }

    /**
     * Has the model think as an effort says.
     *
     * @param path the field that asks for it
     * @param shown what the field says
     */
    public EffortFields think(String path, String shown, String effortWord) {
        tell(path, shown, effort.think(effortWord));
        return this;
    }

    private static void requireOneOf(String path, String value, List<String> values) {
        if (!values.contains(value)) {
            throw ApiException.invalid(path, path + " must be one of " + String.join(", ", values));
        }
    }

    private void tell(String path, String asked, Optional<Map<String, Object>> words) {
        variables.putAll(words.orElseThrow(() -> ApiException.invalid(
                path, path + " is " + asked + ": the model's chat template has no word for it, so leave it out")));
    }

    /** The prompt with what the template is told of it. */
    public Prompt.Chat in(Prompt.Chat prompt) {
        Map<String, Object> all = new HashMap<>(prompt.variables());
        all.putAll(variables);
        return new Prompt.Chat(prompt.messages(), prompt.tools(), all, prompt.toolUse(), prompt.template());
    }
}
