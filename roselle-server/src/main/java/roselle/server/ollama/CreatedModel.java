package roselle.server.ollama;

import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import roselle.server.http.ApiException;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
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
record CreatedModel(
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
    CreatedModel {
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
    static CreatedModel another(String name, String served) {
        return new CreatedModel(name, served, "", "", Map.of(), List.of(), "", "", "", Instant.now());
    }

    /** The same under another name; a file stays the first one's. */
    CreatedModel as(String other) {
        return new CreatedModel(
                other, from, system, template, parameters, messages, license, adapter, "", Instant.now());
    }

    /** The same of a model of the server's, which may have come with it as a file. */
    CreatedModel madeOf(String served, String itsFile) {
        return new CreatedModel(
                name, served, system, template, parameters, messages, license, adapter, itsFile, created);
    }

    /** What is said of it, on top of what is said of the model that it is made of. */
    CreatedModel on(CreatedModel base) {
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

    /** The body of a request for it as one for the model that answers. */
    void rewrite(ObjectNode body, boolean isChat) {
        body.put("model", from);
        body.remove("name");
        ObjectNode options = JsonMapper.shared().valueToTree(parameters);
        if (body.get("options") instanceof ObjectNode asked) {
            options.setAll(asked);
        }
        if (!options.isEmpty()) {
            body.set("options", options);
        }
        if (isChat) {
            rewriteChat(body);
        } else {
            rewritePrompt(body);
        }
    }

    private void rewriteChat(ObjectNode body) {
        if (!(body.get("messages") instanceof ArrayNode asked) || asked.isEmpty()) {
            return;
        }
        ArrayNode turns = JsonMapper.shared().createArrayNode();
        if (!system.isEmpty() && !"system".equals(asked.get(0).path("role").asString(""))) {
            turns.addObject().put("role", "system").put("content", system);
        }
        messages.forEach(message -> turns.add(JsonMapper.shared().<ObjectNode>valueToTree(message)));
        turns.addAll(asked);
        body.set("messages", turns);
    }

    private void rewritePrompt(ObjectNode body) {
        boolean isPlain = body.path("raw").asBoolean(false)
                || !body.path("suffix").asString("").isEmpty();
        if (!messages.isEmpty() && !isPlain && body.has("prompt")) {
            throw ApiException.invalid("model", "the model " + name + " begins with messages: ask for it by /api/chat");
        }
        if (!system.isEmpty() && !isPlain && body.has("prompt") && !body.has("system")) {
            body.put("system", system);
        }
    }

    /** As a Modelfile has it. */
    String modelfile() {
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
