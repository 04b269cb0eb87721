package roselle.server.ollama;

import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import roselle.api.CapacityException;
import roselle.api.CheckpointException;
import roselle.server.answer.Answers;
import roselle.server.answer.Models;
import roselle.server.config.ServedModel;
import roselle.server.http.ApiException;
import roselle.server.http.ErrorKind;
import roselle.server.http.EventStream;
import roselle.server.http.Exchange;
import roselle.server.http.Json;
import roselle.server.http.JsonFields;
import roselle.server.http.JsonWriter;
import roselle.server.http.Routes;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Makes models of others, or of files that were uploaded; copies and deletes them. */
final class CreateRoutes {
    private static final int MOST_MESSAGES = 1000;

    private final Answers answers;
    private final Models models;
    private final CreatedModels created;
    private final BlobStore blobs;

    CreateRoutes(Answers answers, CreatedModels created, BlobStore blobs) {
        this.answers = answers;
        models = answers.models();
        this.created = created;
        this.blobs = blobs;
    }

    void register(Routes routes) {
        routes.post("/api/create", this::create)
                .post("/api/copy", this::copy)
                .delete("/api/delete", this::delete)
                .getBelow("/api/blobs/", blobs::find)
                .postBelow("/api/blobs/", blobs::take);
    }

    private void create(Exchange exchange) throws IOException {
        try (var admitted = answers.admit(exchange)) {
            JsonFields fields = exchange.json();
            String name = name(fields, "model");
            requireNew(name);
            CreatedModel model = read(fields, name);
            boolean streams = fields.bool("stream", true);
            fields.refuseOthers();
            try {
                requireReadable(model, admitted.models());
            } catch (RuntimeException refused) {
                blobs.delete(model.file());
                throw refused;
            }
            created.put(model);
            List<String> said = List.of("reading model metadata", "writing manifest", "success");
            if (streams) {
                EventStream events = exchange.stream();
                for (String status : said) {
                    status(events.event(), status);
                    events.send();
                }
                events.finish();
            } else {
                exchange.sendJson(200, status(new JsonWriter(), said.getLast()));
            }
        }
    }

    static JsonWriter status(JsonWriter json, String status) {
        return json.object().field("status", status).endObject();
    }

    private static String name(JsonFields fields, String field) {
        Optional<String> older = field.equals("model") ? fields.string("name") : Optional.empty();
        String name = fields.string(field).or(() -> older).orElseThrow(() -> fields.missing(field));
        if (!BlobStore.isName(name)) {
            throw ApiException.invalid(
                    field, field + " must be a name of letters, digits, '.', '-', '_', '/' and one ':', at most 128");
        }
        return ModelNames.listed(name);
    }

    /** A model that the server itself has is not made anew. */
    private void requireNew(String name) {
        boolean isServed =
                models.names().stream().anyMatch(each -> ModelNames.listed(each).equals(name));
        if (isServed) {
            throw ApiException.invalid(
                    "model", "there is a model " + name + " already, which the server was given: take another name");
        }
    }

    private CreatedModel read(JsonFields fields, String name) {
        String system = fields.string("system").orElse("");
        Map<String, Object> parameters =
                fields.object("parameters").map(JsonFields::plain).orElse(Map.of());
        List<Map<String, Object>> messages = fields.objects("messages", MOST_MESSAGES).stream()
                .map(JsonFields::plain)
                .toList();
        String license = String.join("\n", fields.strings("license", 100));
        fields.requireDefault(
                "template",
                "templates of Go are not read: a model has one, its own, and what it is told comes as system and messages",
                "");
        fields.requireDefault("quantize", "roselle quantize does that", "");
        fields.requireDefault("quantization", "roselle quantize does that", "");
        String adapter =
                blobs.adapter(fields.object("adapters").map(JsonFields::plain).orElse(Map.of()));
        fields.requireDefault("modelfile", "its lines come as fields: from, parameters, system, messages", "");
        Optional<String> from = fields.string("from").filter(text -> !text.isEmpty());
        Map<String, Object> files =
                fields.object("files").map(JsonFields::plain).orElse(Map.of());
        if (from.isPresent() != files.isEmpty()) {
            throw ApiException.invalid("from", "a model is made of another, from, or of files: name one of them");
        }
        if (from.isEmpty()) {
            BlobStore.Placed placed = blobs.place(name, files);
            return new CreatedModel(
                    name, placed.model(), system, parameters, messages, license, adapter, placed.file(), Instant.now());
        }
        var model =
                new CreatedModel(name, from.get(), system, parameters, messages, license, adapter, "", Instant.now());
        return created.find(from.get()).map(model::on).orElseGet(() -> resolved(model));
    }

    private CreatedModel resolved(CreatedModel model) {
        ObjectNode body = JsonMapper.shared().createObjectNode().put("model", model.from());
        String served = ModelNames.known(Json.fields("", body), models);
        return new CreatedModel(
                model.name(),
                served,
                model.system(),
                model.parameters(),
                model.messages(),
                model.license(),
                model.adapter(),
                model.file(),
                model.created());
    }

    /** Reads a request for it as one that is asked, so that what it can never honour is refused now. */
    private void requireReadable(CreatedModel model, Models loading) {
        ObjectNode body = JsonMapper.shared().createObjectNode().put("model", model.name());
        body.putArray("messages").addObject().put("role", "user").put("content", "Hello");
        model.rewrite(body, true);
        ServedModel base = loading.named(Optional.of(model.from()));
        try {
            blobs.adapted(base, model.adapter());
        } catch (CheckpointException | CapacityException unfit) {
            throw ApiException.invalid("adapters", "the adapter cannot be used: " + unfit.getMessage());
        }
        JsonFields fields = Json.fields("", body);
        OptionFields.read(fields, base);
        TurnFields.messages(fields);
    }

    private void copy(Exchange exchange) throws IOException {
        try (var _ = answers.admit(exchange)) {
            JsonFields fields = exchange.json();
            String source = fields.requiredString("source");
            String destination = name(fields, "destination");
            fields.refuseOthers();
            requireNew(destination);
            Optional<CreatedModel> made = created.find(source);
            if (made.isPresent()) {
                created.put(made.get().as(destination));
            } else {
                ObjectNode body = JsonMapper.shared().createObjectNode().put("model", source);
                String served = models.listed(ModelNames.known(Json.fields("", body), models))
                        .name();
                created.put(new CreatedModel(destination, served, "", Map.of(), List.of(), "", "", "", Instant.now()));
            }
            exchange.sendEmpty(200);
        }
    }

    private void delete(Exchange exchange) throws IOException {
        try (var _ = answers.admit(exchange)) {
            JsonFields fields = exchange.json();
            Optional<String> older = fields.string("name");
            String name = fields.string("model").or(() -> older).orElseThrow(() -> fields.missing("model"));
            fields.refuseOthers();
            Optional<CreatedModel> removed = created.remove(name);
            if (removed.isEmpty()) {
                models.listed(ModelNames.known(fields, models)); // else nobody knows it
                throw new ApiException(
                        ErrorKind.NOT_SUPPORTED,
                        "delete is not supported for models that were not created here: the server was given " + name);
            }
            String file = removed.get().file();
            boolean isUsed = created.all().stream()
                    .anyMatch(each -> each.from().equals(removed.get().from()));
            if (!isUsed) {
                blobs.delete(file);
            }
            exchange.sendEmpty(200);
        }
    }
}
