package roselle.server.ollama;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import roselle.api.SamplingParameters;
import roselle.conversation.Effort;
import roselle.engine.ModelFacts;
import roselle.server.answer.Answers;
import roselle.server.answer.ListedModel;
import roselle.server.answer.Models;
import roselle.server.config.Served;
import roselle.server.config.ServedEncoder;
import roselle.server.config.ServedModel;
import roselle.server.created.CreatedModel;
import roselle.server.created.CreatedModels;
import roselle.server.http.Exchange;
import roselle.server.http.JsonFields;
import roselle.server.http.JsonWriter;
import roselle.server.http.Routes;
import roselle.server.pool.ModelState;

/** What Ollama's API tells of models: which there are, which run, what they can; and its version. */
final class ModelRoutes {
    /** The version of Ollama whose API this is: clients ask for it to find out what they can say. */
    private static final String VERSION = "0.13.5";

    /** When a model is unloaded: clients read it as a time that does not come. */
    private static final String NEVER = "9999-12-31T23:59:59Z";

    private final Answers answers;
    private final Models models;
    private final CreatedModels created;

    ModelRoutes(Answers answers, CreatedModels created) {
        this.answers = answers;
        models = answers.models();
        this.created = created;
    }

    void register(Routes routes) {
        routes.get("/api/version", ModelRoutes::version)
                .get("/api/tags", this::tags)
                .get("/api/ps", this::running)
                .post("/api/show", this::show);
    }

    private static void version(Exchange exchange) {
        exchange.sendJson(
                200, new JsonWriter().object().field("version", VERSION).endObject());
    }

    private void tags(Exchange exchange) {
        JsonWriter json = new JsonWriter().object().array("models");
        for (ListedModel model : models.given()) {
            Optional<ModelFacts> facts = models.facts(model);
            long size = facts.map(ModelFacts::fileBytes).orElse(0L);
            open(json, model, size, facts)
                    .field("modified_at", model.created().toString())
                    .endObject();
        }
        for (CreatedModel model : created.all()) {
            json.object()
                    .field("name", model.name())
                    .field("model", model.name())
                    .field("size", 0)
                    .field("digest", digest(model.name() + model.created()));
            ModelDetails.of(facts(model.from())).write(json, model.from());
            json.field("modified_at", model.created().toString()).endObject();
        }
        exchange.sendJson(200, json.endArray().endObject());
    }

    /** What the files of the model that answers say; nothing where it has gone. */
    private Optional<ModelFacts> facts(String name) {
        return models.given().stream()
                .filter(model -> model.name().equals(name))
                .findFirst()
                .flatMap(models::facts);
    }

    /** The models that are loaded and awake, or wait in the machine's memory. */
    private void running(Exchange exchange) {
        JsonWriter json = new JsonWriter().object().array("models");
        for (ListedModel model : models.given()) {
            ModelState state = model.state();
            if (state.isReady() || state.isParked()) {
                open(json, model, state.isParked() ? state.hostBytes() : state.bytes(), models.facts(model))
                        .field("expires_at", expiry(state.unloadsAfter()))
                        .field("size_vram", isOnGpu(model) ? state.bytes() : 0)
                        .field("context_length", model.context())
                        .endObject();
            }
        }
        exchange.sendJson(200, json.endArray().endObject());
    }

    private boolean isOnGpu(ListedModel model) {
        String name = model.parent().isEmpty() ? model.name() : model.parent();
        return models.loaded().stream()
                .filter(each -> each.name().equals(name))
                .anyMatch(each -> !device(each).startsWith("cpu"));
    }

    private static String device(Served model) {
        return switch (model) {
            case ServedModel generating -> generating.engine().plan().device();
            case ServedEncoder encoder -> encoder.engine().device();
        };
    }

    private static String expiry(Optional<Duration> time) {
        return time.map(left -> Instant.now().plus(left).toString()).orElse(NEVER);
    }

    private static JsonWriter open(JsonWriter json, ListedModel model, long bytes, Optional<ModelFacts> facts) {
        json.object()
                .field("name", ModelNames.listed(model.name()))
                .field("model", ModelNames.listed(model.name()))
                .field("size", bytes)
                .field("digest", digest(model));
        ModelDetails.of(facts).write(json, model.parent());
        return json;
    }

    /** Tells a model from others, and from itself at another start: files are not read for it. */
    private static String digest(ListedModel model) {
        return digest(model.name() + '\n' + model.created());
    }

    static String digest(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest);
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException(missing); // every JDK has it
        }
    }

    private void show(Exchange exchange) throws IOException {
        try (var admitted = answers.admit(exchange)) {
            JsonFields fields = exchange.json();
            Optional<String> older = fields.string("name");
            Optional<CreatedModel> made = fields.string("model").or(() -> older).flatMap(created::find);
            show(exchange, fields, made, admitted.models());
        }
    }

    /** What is told is in the model's files, so it is loaded. */
    private static void show(Exchange exchange, JsonFields fields, Optional<CreatedModel> made, Models models) {
        Served model = ModelNames.find(fields, models);
        boolean isVerbose = fields.bool("verbose", false);
        fields.requireDefault("system", "models keep no system message", "");
        fields.requireDefault("template", "a model has one template, its own", "");
        fields.requireDefault("options", "nothing depends on them here", Map.of());
        fields.refuseOthers();
        String template = made.map(CreatedModel::template).orElse("");
        JsonWriter json = new JsonWriter().object();
        json.field("modelfile", made.map(CreatedModel::modelfile).orElse("FROM " + model.name() + "\n"))
                .field(
                        "parameters",
                        parameters(model, made.map(CreatedModel::parameters).orElse(Map.of())))
                .field("template", template)
                .field("modified_at", model.created().toString());
        made.map(CreatedModel::system).filter(text -> !text.isEmpty()).ifPresent(text -> json.field("system", text));
        made.map(CreatedModel::license).filter(text -> !text.isEmpty()).ifPresent(text -> json.field("license", text));
        ModelDetails details = ModelDetails.of(models.facts(models.listed(model.name())));
        details.write(json, made.map(CreatedModel::from).orElse(""));
        details.writeInformation(json, model, isVerbose);
        json.array("capabilities");
        capabilities(model, template).forEach(json::value);
        exchange.sendJson(200, json.endArray().endObject());
    }

    /** How the model's makers advise to draw its tokens, as lines of a Modelfile. */
    private static String parameters(Served model, Map<String, Object> own) {
        var lines = new TreeMap<String, Object>();
        lines.put("num_ctx", model.context());
        Optional<SamplingParameters> advice =
                model instanceof ServedModel generating ? generating.engine().advisedSampling() : Optional.empty();
        advice.ifPresent(sampling -> {
            lines.put("temperature", sampling.temperature());
            lines.put("top_k", sampling.topK());
            lines.put("top_p", sampling.topP());
            lines.put("min_p", sampling.minP());
            lines.put("repeat_penalty", sampling.repetitionPenalty());
        });
        lines.putAll(own);
        var text = new StringBuilder();
        lines.forEach((name, value) -> text.append("%-30s %s%n".formatted(name, value)));
        return text.toString();
    }

    private static List<String> capabilities(Served model, String template) {
        return switch (model) {
            case ServedModel generating -> capabilities(generating, template);
            case ServedEncoder encoder ->
                encoder.isClassifier() || !encoder.engine().givesDense() ? List.of() : List.of("embedding");
        };
    }

    private static List<String> capabilities(ServedModel model, String template) {
        var engine = model.engine();
        boolean hasTemplate = !template.isEmpty() || engine.hasChatTemplate();
        boolean callsTools = hasTemplate && !engine.toolParser(template).equals("none");
        var effort = new Effort(variable -> engine.chatTemplateMentions(template, variable));
        boolean thinks = effort.think("medium").isPresent();
        boolean fills = !template.isEmpty() && engine.chatTemplateMentions(template, "suffix");
        return Stream.of("completion", callsTools ? "tools" : "", fills ? "insert" : "", thinks ? "thinking" : "")
                .filter(name -> !name.isEmpty())
                .toList();
    }
}
