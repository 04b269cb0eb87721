package roselle.server.openai;

import java.util.Optional;
import roselle.server.answer.Models;
import roselle.server.config.ServedModel;
import roselle.server.http.Exchange;
import roselle.server.http.JsonText;

/** {@code /v1/models}: what there is to ask. */
final class ModelsHandler {
    private final Models models;

    ModelsHandler(Models models) {
        this.models = models;
    }

    void list(Exchange exchange) {
        var body = new JsonText().raw("{\"object\":\"list\",\"data\":[");
        String separator = "";
        for (ServedModel model : models.all()) {
            append(body.raw(separator), model);
            separator = ",";
        }
        exchange.sendJson(200, body.raw("]}"));
    }

    void one(Exchange exchange) {
        var body = new JsonText();
        append(body, models.named(Optional.of(exchange.rest())));
        exchange.sendJson(200, body);
    }

    /** The model, with vLLM's {@code max_model_len}. */
    private static void append(JsonText body, ServedModel model) {
        body.raw("{\"id\":")
                .string(model.name())
                .raw(",\"object\":\"model\",\"created\":")
                .number(model.created().getEpochSecond())
                .raw(",\"owned_by\":\"roselle\",\"root\":")
                .string(model.name())
                .raw(",\"parent\":null,\"max_model_len\":")
                .number(model.engine().maxContext())
                .raw("}");
    }
}
