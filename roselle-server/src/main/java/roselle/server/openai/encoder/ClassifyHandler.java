package roselle.server.openai.encoder;

import java.io.IOException;
import java.util.List;
import roselle.embedding.TextResults;
import roselle.server.answer.Answers;
import roselle.server.encoder.Kinds;
import roselle.server.encoder.Scores;
import roselle.server.http.Exchange;
import roselle.server.http.Handler;
import roselle.server.http.JsonFields;
import roselle.server.http.JsonWriter;

/** {@code /classify}: the likeliest label of each text, and what each label has. */
final class ClassifyHandler implements Handler {
    private final Answers answers;

    ClassifyHandler(Answers answers) {
        this.answers = answers;
    }

    @Override
    public void handle(Exchange exchange) throws IOException {
        try (var admitted = answers.admit(exchange)) {
            JsonFields fields = exchange.json();
            ClassifierCall call =
                    ClassifierCall.read(fields, Kinds.classifier(admitted.models(), fields.string("model")));
            List<String> texts = ClassifierCall.texts(fields, "input");
            fields.refuseOthers();
            exchange.sendJson(200, answer(exchange, call, call.encode(admitted, texts)));
        }
    }

    private static JsonWriter answer(Exchange exchange, ClassifierCall call, TextResults results) {
        List<String> labels = call.encoder().engine().labels();
        JsonWriter json = call.begin("classify-" + exchange.id());
        int index = 0;
        for (float[] logits : results.vectors()) {
            List<Double> scores = Scores.of(logits, call.isRaw());
            json.object()
                    .field("index", index++)
                    .field("label", labels.get(Scores.order(scores).getFirst()))
                    .array("probs");
            scores.forEach(json::value);
            json.endArray().field("num_classes", scores.size()).endObject();
        }
        return ClassifierCall.end(json, results.tokens());
    }
}
