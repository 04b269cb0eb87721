package roselle.server.openai;

import roselle.server.answer.ListedModel;
import roselle.server.answer.Models;
import roselle.server.http.Exchange;
import roselle.server.http.JsonWriter;

/** {@code /v1/models}: what there is to ask. */
final class ModelsHandler {
    private final Models models;

    ModelsHandler(Models models) {
        this.models = models;
    }

    void list(Exchange exchange) {
        var body = new JsonWriter().object().field("object", "list").array("data");
        models.listed().forEach(model -> append(body, model));
        exchange.sendJson(200, body.endArray().endObject());
    }

    void one(Exchange exchange) {
        var body = new JsonWriter();
        append(body, models.listed(exchange.rest()));
        exchange.sendJson(200, body);
    }

    /** The model, with vLLM's {@code max_model_len} where it is known, and whether it is loaded. */
    private static void append(JsonWriter body, ListedModel model) {
        body.object()
                .field("id", model.name())
                .field("object", "model")
                .field("created", model.created().getEpochSecond())
                .field("owned_by", "roselle")
                .field("root", model.parent().isEmpty() ? model.name() : model.parent())
                .fieldOrNull("parent", model.parent());
        if (model.context() > 0) {
            body.field("max_model_len", model.context());
        }
        body.field("state", model.state().word())
                .field("percent", model.state().percent())
                .endObject();
    }
}
