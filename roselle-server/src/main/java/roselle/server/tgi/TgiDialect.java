package roselle.server.tgi;

import java.util.Optional;
import roselle.engine.Engine;
import roselle.server.answer.Answers;
import roselle.server.answer.Models;
import roselle.server.config.ServedModel;
import roselle.server.http.Conventions;
import roselle.server.http.Dialect;
import roselle.server.http.Exchange;
import roselle.server.http.JsonWriter;
import roselle.server.http.Routes;
import roselle.server.tgi.GenerateReader.Form;

/** The paths of Text Generation Inference; {@code POST /} is where its clients go, beside the page that browsers get there. */
public final class TgiDialect implements Dialect {
    /** The version of Text Generation Inference whose API this is. */
    private static final String VERSION = "3.3.5";

    private final Models models;
    private final GenerateHandler generate;

    public TgiDialect(Answers answers) {
        models = answers.models();
        generate = new GenerateHandler(answers);
    }

    @Override
    public void register(Routes routes) {
        routes.post("/generate", exchange -> generate.handle(exchange, Form.WHOLE))
                .post("/generate_stream", exchange -> generate.handle(exchange, Form.STREAM))
                .post("/", exchange -> generate.handle(exchange, Form.EITHER))
                .get("/info", this::info);
    }

    /** What the only model, or that of the query's {@code model}, was started with. */
    private void info(Exchange exchange) {
        ServedModel model = models.named(exchange.query("model"));
        Engine engine = model.engine();
        var json = new JsonWriter().object().field("model_id", model.name()).nullField("model_sha");
        json.field("model_pipeline_tag", "text-generation")
                .field("max_concurrent_requests", engine.maxAnswers())
                .field("max_best_of", Math.min(GenerateReader.MOST_ANSWERS, engine.maxAnswers()))
                .field("max_stop_sequences", GenerateReader.MOST_STOPS)
                .field("max_input_tokens", engine.context() - 1)
                .field("max_total_tokens", engine.context())
                .field("version", VERSION);
        exchange.sendJson(200, json.endObject());
    }

    @Override
    public String name() {
        return "tgi";
    }

    @Override
    public Optional<Conventions> conventions() {
        return Optional.of(TgiConventions.INSTANCE);
    }
}
