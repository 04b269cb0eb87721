package roselle.server.created;

import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import roselle.api.GenerationRequest;
import roselle.server.config.RequestDefaults;
import roselle.server.config.ServedModel;
import roselle.server.http.ApiException;
import roselle.server.http.Json;
import roselle.server.http.JsonFields;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * A model that somebody made of another: it is that one, asked in another way.
 *
 * @param name with its tag
 * @param from the server's name of the model that answers
 * @param system what it is told before all else; may be empty
 * @param template in Go's language, in the place of that of the model that answers; empty for that
 * @param parameters options of requests that do not say otherwise
 * @param messages that come before those of a chat
 * @param license may be empty
 * @param adapter the uploaded file that adapts the model, by its digest; empty where it is as it is
 * @param file in the folder of models, which goes with it; empty where it stays or is another's
 */
public record CreatedModel(
        String name,
        String from,
        String system,
        String template,
        Map<String, Object> parameters,
        List<Map<String, Object>> messages,
        String license,
        String adapter,
        String file,
        Instant created) {
    public CreatedModel {
        parameters = Map.copyOf(parameters);
        messages = List.copyOf(messages);
    }

    /** As it is kept: by hand, since nobody may look into this module's classes. */
    ObjectNode json() {
        ObjectNode kept = JsonMapper.shared()
                .createObjectNode()
                .put("name", name)
                .put("from", from)
                .put("system", system)
                .put("template", template)
                .put("license", license)
                .put("adapter", adapter)
                .put("file", file)
                .put("created", created.toString());
        kept.set("parameters", JsonMapper.shared().valueToTree(parameters));
        kept.set("messages", JsonMapper.shared().valueToTree(messages));
        return kept;
    }

    /** One that was kept; files of earlier releases have no template. */
    static CreatedModel of(JsonNode kept) {
        return new CreatedModel(
                kept.path("name").asString(""),
                kept.path("from").asString(""),
                kept.path("system").asString(""),
                kept.path("template").asString(""),
                JsonMapper.shared().convertValue(kept.path("parameters"), new TypeReference<Map<String, Object>>() {}),
                JsonMapper.shared()
                        .convertValue(kept.path("messages"), new TypeReference<List<Map<String, Object>>>() {}),
                kept.path("license").asString(""),
                kept.path("adapter").asString(""),
                kept.path("file").asString(""),
                Instant.parse(kept.path("created").asString("")));
    }

    /** A model of the server's under another name. */
    public static CreatedModel another(String name, String served) {
        return new CreatedModel(name, served, "", "", Map.of(), List.of(), "", "", "", Instant.now());
    }

    /** The same under another name; a file stays the first one's. */
    public CreatedModel as(String other) {
        return new CreatedModel(
                other, from, system, template, parameters, messages, license, adapter, "", Instant.now());
    }

    /** The same of a model of the server's, which may have come with it as a file. */
    public CreatedModel madeOf(String served, String itsFile) {
        return new CreatedModel(
                name, served, system, template, parameters, messages, license, adapter, itsFile, created);
    }

    /** What is said of it, on top of what is said of the model that it is made of. */
    public CreatedModel on(CreatedModel base) {
        Map<String, Object> all = new LinkedHashMap<>(base.parameters);
        all.putAll(parameters);
        List<Map<String, Object>> turns = new ArrayList<>(base.messages);
        turns.addAll(messages);
        return new CreatedModel(
                name,
                base.from,
                system.isEmpty() ? base.system : system,
                template.isEmpty() ? base.template : template,
                all,
                turns,
                license.isEmpty() ? base.license : license,
                adapter.isEmpty() ? base.adapter : adapter,
                file,
                created);
    }

    /** Tokens that prompt and answer may have together, where it says so. */
    public OptionalInt context() {
        return parameters.get("num_ctx") instanceof Number tokens
                ? OptionalInt.of(tokens.intValue())
                : OptionalInt.empty();
    }

    /** Further names by which it may be asked for. */
    public List<String> aliases() {
        return name.endsWith(CreatedModels.LATEST)
                ? List.of(name.substring(0, name.length() - CreatedModels.LATEST.length()))
                : List.of();
    }

    /**
     * A model of the server's, asked in the way of this one.
     *
     * @throws ApiException if it cannot be, and why
     */
    ServedModel over(ServedModel base, String adapterName) {
        ObjectNode said = JsonMapper.shared().createObjectNode();
        said.set("options", JsonMapper.shared().valueToTree(parameters));
        said.set("messages", JsonMapper.shared().valueToTree(messages));
        JsonFields fields = Json.fields("", said);
        GenerationRequest read = OptionFields.read(fields, base).text("").build(); // refuses what can never be honoured
        boolean isBounded = parameters.containsKey("num_predict");
        var defaults = new RequestDefaults(
                adapterName.isEmpty() ? base.adapter() : adapterName,
                system,
                TurnFields.messages(fields),
                template,
                advice -> OptionFields.over(advice, fields, base),
                read.stop().stopStrings(),
                isBounded ? OptionalInt.of(read.stop().maxTokens()) : OptionalInt.empty(),
                context());
        return new ServedModel(name, base.engine(), created, from, defaults);
    }

    /** As a Modelfile has it. */
    public String modelfile() {
        var text = new StringBuilder("FROM ").append(from).append('\n');
        if (!adapter.isEmpty()) {
            text.append("ADAPTER ").append(adapter).append('\n');
        }
        if (!template.isEmpty()) {
            text.append("TEMPLATE \"\"\"").append(template).append("\"\"\"\n");
        }
        parameters.forEach((key, value) -> {
            for (Object each : value instanceof List<?> list ? list : List.of(value)) {
                text.append("PARAMETER ").append(key).append(' ').append(each).append('\n');
            }
        });
        if (!system.isEmpty()) {
            text.append("SYSTEM \"\"\"").append(system).append("\"\"\"\n");
        }
        messages.forEach(message -> text.append("MESSAGE ")
                .append(message.get("role"))
                .append(' ')
                .append(message.get("content"))
                .append('\n'));
        return text.toString();
    }
}
