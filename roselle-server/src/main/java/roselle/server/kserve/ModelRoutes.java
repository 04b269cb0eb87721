package roselle.server.kserve;

import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import roselle.server.answer.Answers;
import roselle.server.answer.ListedModel;
import roselle.server.answer.Models;
import roselle.server.http.ApiException;
import roselle.server.http.ErrorKind;
import roselle.server.http.Exchange;
import roselle.server.http.JsonFields;
import roselle.server.http.JsonWriter;
import roselle.server.pool.EnginePool;

/** What is told of models: their tensors, whether they are ready, what there is. */
final class ModelRoutes {
    private final Answers answers;
    private final Models models;

    ModelRoutes(Answers answers) {
        this.answers = answers;
        models = answers.models();
    }

    void ready(Exchange exchange) {
        ListedModel model = ModelPath.of(exchange).listed(models);
        if (!isReady(model)) {
            throw new ApiException(ErrorKind.NOT_READY, "model " + model.name() + " is not ready: " + reason(model));
        }
        var json = new JsonWriter().object().field("name", model.name()).field("ready", true);
        exchange.sendJson(200, json.endObject());
    }

    void metadata(Exchange exchange) {
        String model = generating(exchange);
        var json = new JsonWriter().object().field("name", model);
        json.array("versions").value(ModelPath.VERSION).endArray();
        json.field("platform", "roselle").array("inputs");
        for (Input input : Input.values()) {
            tensor(json.object(), input.wireName(), input.datatype(), 1);
        }
        json.endArray().array("outputs");
        for (Output output : Output.values()) {
            tensor(json.object(), output.wireName(), output.datatype(), output.dimension());
        }
        exchange.sendJson(200, json.endArray().endObject());
    }

    private static void tensor(JsonWriter json, String name, Datatype datatype, int dimension) {
        json.field("name", name).field("datatype", datatype.name());
        json.array("shape").value(dimension).endArray().endObject();
    }

    /** The configuration that Triton would have of such a model. */
    void configuration(Exchange exchange) {
        String model = generating(exchange);
        var json = new JsonWriter()
                .object()
                .field("name", model)
                .field("platform", "")
                .field("backend", "roselle")
                .field("max_batch_size", 0)
                .array("input");
        for (Input input : Input.values()) {
            json.object()
                    .field("name", input.wireName())
                    .field("data_type", input.datatype().configured());
            json.array("dims").value(1).endArray();
            json.field("optional", input.isOptional()).endObject();
        }
        json.endArray().array("output");
        for (Output output : Output.values()) {
            json.object().field("name", output.wireName());
            json.field("data_type", output.datatype().configured());
            json.array("dims").value(output.dimension()).endArray().endObject();
        }
        json.endArray()
                .object("model_transaction_policy")
                .field("decoupled", true)
                .endObject();
        exchange.sendJson(200, json.endObject());
    }

    /** The name of a model that generates, loaded or not. */
    private String generating(Exchange exchange) {
        ModelPath path = ModelPath.of(exchange);
        boolean isOpen = models.pool().isPresent()
                && !path.listed(models).state().isLoaded(); // of what kind it is, its load tells
        return isOpen ? path.listed(models).name() : path.in(models).name();
    }

    /** Every model; those that are ready alone, if the body asks for them. */
    void index(Exchange exchange) throws IOException {
        boolean isForReady = exchange.jsonIfAny().map(ModelRoutes::asksForReady).orElse(false);
        var json = new JsonWriter().array();
        for (ListedModel model : models.listed()) {
            if (isReady(model) || !isForReady) {
                json.object()
                        .field("name", model.name())
                        .field("version", ModelPath.VERSION)
                        .field("state", state(model))
                        .field("reason", isReady(model) ? "" : reason(model))
                        .endObject();
            }
        }
        exchange.sendJson(200, json.endArray());
    }

    static boolean isReady(ListedModel model) {
        return model.state().isReady() && model.isSound();
    }

    /** By Triton's words. */
    static String state(ListedModel model) {
        return switch (model.state().phase()) {
            case PLANNING, WAITING, LOADING -> "LOADING";
            case UNLOADING -> "UNLOADING";
            case UNLOADED -> "UNAVAILABLE";
            case LOADED -> isReady(model) ? "READY" : "UNAVAILABLE";
        };
    }

    static String reason(ListedModel model) {
        if (model.state().isReady()) {
            return "its engine ended";
        }
        return model.state().failure().isEmpty()
                ? model.state().word()
                : model.state().failure();
    }

    /** Answers when the model is loaded. */
    void load(Exchange exchange) throws IOException {
        try (var admitted = answers.admit(exchange)) {
            exchange.jsonIfAny().ifPresent(fields -> {
                fields.requireDefault("parameters", "a model is loaded as the server was told to", Map.of());
                fields.refuseOthers();
            });
            models.permit(exchange.rest());
            admitted.models().any(Optional.of(exchange.rest()));
            exchange.sendEmpty(200);
        }
    }

    /** Answers at once; requests that use the model go on to their ends. */
    void unload(Exchange exchange) throws IOException {
        try (var _ = answers.admit(exchange)) {
            exchange.jsonIfAny().ifPresent(ModelRoutes::readUnload);
            EnginePool pool = models.requirePool();
            pool.models().dismiss(models.pooledName(pool, Optional.of(exchange.rest())));
            exchange.sendEmpty(200);
        }
    }

    private static void readUnload(JsonFields fields) {
        fields.object("parameters").ifPresent(parameters -> {
            parameters.requireDefault("unload_dependents", "no model depends on another", false);
            parameters.refuseOthers();
        });
        fields.refuseOthers();
    }

    private static boolean asksForReady(JsonFields fields) {
        boolean asks = fields.bool("ready", false);
        fields.refuseOthers();
        return asks;
    }
}
