package roselle.server.web;

import roselle.api.SamplingParameters;
import roselle.server.answer.Models;
import roselle.server.config.ServedModel;
import roselle.server.http.Exchange;
import roselle.server.http.JsonWriter;

/** What holds for a model where a request leaves it open: the page's settings show it. */
final class ModelDefaults {
    private final Models models;

    ModelDefaults(Models models) {
        this.models = models;
    }

    /** Answers for the query's {@code model}; one that is not loaded says so and stays as it is. */
    void answer(Exchange exchange) {
        ServedModel model = models.named(exchange.query("model"));
        SamplingParameters advice = model.sampling(SamplingParameters.DEFAULT);
        exchange.sendJson(
                200,
                new JsonWriter()
                        .object()
                        .field("temperature", advice.temperature())
                        .field("top_p", advice.topP())
                        .field("top_k", advice.topK())
                        .field("min_p", advice.minP())
                        .field("repetition_penalty", advice.repetitionPenalty())
                        .field("context", model.context())
                        .endObject());
    }
}
