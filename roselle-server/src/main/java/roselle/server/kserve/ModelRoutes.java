package roselle.server.kserve;

import java.io.IOException;
import roselle.server.answer.Models;
import roselle.server.config.ServedModel;
import roselle.server.http.ApiException;
import roselle.server.http.ErrorKind;
import roselle.server.http.Exchange;
import roselle.server.http.JsonFields;
import roselle.server.http.JsonWriter;

/** What is told of models: their tensors, whether they are ready, what there is. */
final class ModelRoutes {
    private final Models models;

    ModelRoutes(Models models) {
        this.models = models;
    }

    void ready(Exchange exchange) {
        ServedModel model = ModelPath.of(exchange).in(models);
        if (!model.engine().status().isAlive()) {
            throw new ApiException(ErrorKind.NOT_READY, "model " + model.name() + " is not ready: its engine ended");
        }
        var json = new JsonWriter().object().field("name", model.name()).field("ready", true);
        exchange.sendJson(200, json.endObject());
    }

    void metadata(Exchange exchange) {
        ServedModel model = ModelPath.of(exchange).in(models);
        var json = new JsonWriter().object().field("name", model.name());
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
        ServedModel model = ModelPath.of(exchange).in(models);
        var json = new JsonWriter()
                .object()
                .field("name", model.name())
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

    /** Every model; those that are ready alone, if the body asks for them. */
    void index(Exchange exchange) throws IOException {
        boolean isForReady = exchange.jsonIfAny().map(ModelRoutes::asksForReady).orElse(false);
        var json = new JsonWriter().array();
        for (ServedModel model : models.all()) {
            boolean isReady = model.engine().status().isAlive();
            if (isReady || !isForReady) {
                json.object()
                        .field("name", model.name())
                        .field("version", ModelPath.VERSION)
                        .field("state", isReady ? "READY" : "UNAVAILABLE")
                        .field("reason", isReady ? "" : "its engine ended")
                        .endObject();
            }
        }
        exchange.sendJson(200, json.endArray());
    }

    private static boolean asksForReady(JsonFields fields) {
        boolean asks = fields.bool("ready", false);
        fields.refuseOthers();
        return asks;
    }
}
