package roselle.server.ollama;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import roselle.api.CapacityException;
import roselle.api.ChatMessage;
import roselle.api.CheckpointException;
import roselle.api.InvalidRequestException;
import roselle.api.Prompt;
import roselle.server.answer.Answers;
import roselle.server.answer.Models;
import roselle.server.config.ServedModel;
import roselle.server.created.CreatedModel;
import roselle.server.created.CreatedModels;
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
            CreatedModel asked = read(fields, name);
            Optional<Path> blob = blobs.uploaded("files", plain(fields, "files"));
            boolean streams = fields.bool("stream", true);
            fields.refuseOthers();
            if (asked.from().isEmpty() == blob.isEmpty()) {
                throw ApiException.invalid("from", "a model is made of another, from, or of files: name one of them");
            }
            if (blob.isPresent()) {
                keepPlaced(asked, blob.get(), admitted.models());
            } else {
                CreatedModel model = resolved(asked);
                requireReadable(model, admitted.models());
                keep(model);
            }
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

    /** Makes an uploaded file a model, and another of that; the file stays where both can be. */
    private void keepPlaced(CreatedModel asked, Path blob, Models loading) {
        BlobStore.Placed placed = blobs.place(asked.name(), blob);
        try {
            CreatedModel model = asked.madeOf(placed.model(), placed.file());
            requireReadable(model, loading);
            keep(model);
        } catch (RuntimeException refused) {
            if (placed.isNew()) {
                blobs.delete(placed.file());
            }
            throw refused;
        }
    }

    /** Keeps a model in the place of one that had its name. */
    private synchronized void keep(CreatedModel model) {
        Optional<CreatedModel> before = created.put(model);
        blobs.settle(model);
        before.ifPresent(this::forget);
    }

    /** Forgets a model; returns whether there was one. */
    private synchronized boolean remove(String name) {
        Optional<CreatedModel> removed = created.remove(name);
        removed.ifPresent(this::forget);
        return removed.isPresent();
    }

    /** What a model had to itself goes with it; a file that others answer with becomes one of theirs. */
    private void forget(CreatedModel gone) {
        List<CreatedModel> others = created.all().stream()
                .filter(each -> each.from().equals(gone.from()))
                .toList();
        if (!others.isEmpty() && !gone.file().isEmpty()) {
            created.put(others.getFirst().madeOf(gone.from(), gone.file()));
        }
        blobs.forget(gone, others.isEmpty());
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
        Map<String, Object> parameters = plain(fields, "parameters");
        List<Map<String, Object>> messages = fields.objects("messages", MOST_MESSAGES).stream()
                .map(JsonFields::plain)
                .toList();
        String license = String.join("\n", fields.strings("license", 100));
        String template = fields.string("template").orElse("");
        fields.requireDefault("quantize", "roselle quantize does that", "");
        fields.requireDefault("quantization", "roselle quantize does that", "");
        String adapter = blobs.uploaded("adapters", plain(fields, "adapters"))
                .map(blob -> String.valueOf(blob.getFileName()))
                .orElse("");
        fields.requireDefault(
                "modelfile", "its lines come as fields: from, template, parameters, system, messages", "");
        String from = fields.string("from").orElse("");
        return new CreatedModel(
                name, from, system, template, parameters, messages, license, adapter, "", Instant.now());
    }

    /** An object's fields; null is what is left out. */
    private static Map<String, Object> plain(JsonFields fields, String field) {
        Map<String, Object> said =
                new LinkedHashMap<>(fields.object(field).map(JsonFields::plain).orElse(Map.of()));
        said.values().removeIf(Objects::isNull);
        return said;
    }

    /** One that is made of another, as one of the server's own. */
    private CreatedModel resolved(CreatedModel model) {
        return created.find(model.from()).map(model::on).orElseGet(() -> {
            ObjectNode body = JsonMapper.shared().createObjectNode().put("model", model.from());
            return model.madeOf(ModelNames.known(Json.fields("", body), models), "");
        });
    }

    /** Asks for it as a request would, so that what it can never honour is refused now. */
    private void requireReadable(CreatedModel model, Models loading) {
        ServedModel base = loading.named(Optional.of(model.from()));
        try {
            created.over(base, model);
        } catch (CheckpointException | CapacityException unfit) {
            throw ApiException.invalid("adapters", "the adapter cannot be used: " + unfit.getMessage());
        }
        requireTemplate(model, base);
    }

    /** Renders a chat by the model's template. */
    private static void requireTemplate(CreatedModel model, ServedModel base) {
        if (!model.template().isEmpty()) {
            var hello = new Prompt.Chat(List.of(ChatMessage.user("Hello")), List.of(), Map.of());
            try {
                base.engine().tokenize(hello.by(model.template()));
            } catch (InvalidRequestException refused) {
                throw ApiException.invalid("template", "the template cannot be used: " + refused.getMessage());
            }
        }
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
                keep(made.get().as(destination));
            } else {
                ObjectNode body = JsonMapper.shared().createObjectNode().put("model", source);
                String served = models.listed(ModelNames.known(Json.fields("", body), models))
                        .name();
                keep(CreatedModel.another(destination, served));
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
            if (!remove(name)) {
                models.listed(ModelNames.known(fields, models)); // else nobody knows it
                throw new ApiException(
                        ErrorKind.NOT_SUPPORTED,
                        "delete is not supported for models that were not created here: the server was given " + name);
            }
            exchange.sendEmpty(200);
        }
    }
}
