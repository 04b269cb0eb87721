package roselle.server.openai.encoder;

import java.io.IOException;
import java.util.List;
import java.util.stream.IntStream;
import roselle.embedding.EmbeddingOptions;
import roselle.embedding.TextResults;
import roselle.server.answer.Answers;
import roselle.server.encoder.Kinds;
import roselle.server.encoder.Scores;
import roselle.server.http.ApiException;
import roselle.server.http.Exchange;
import roselle.server.http.Handler;
import roselle.server.http.JsonFields;
import roselle.server.http.JsonWriter;

/** {@code /score}: how well pairs of texts fit together: one text with each of others, or as many of both. */
final class ScoreHandler implements Handler {
    private final Answers answers;

    ScoreHandler(Answers answers) {
        this.answers = answers;
    }

    @Override
    public void handle(Exchange exchange) throws IOException {
        try (var admitted = answers.admit(exchange)) {
            JsonFields fields = exchange.json();
            ClassifierCall call = ClassifierCall.read(fields, Kinds.ranker(admitted.models(), fields.string("model")));
            EmbeddingOptions options =
                    call.options().withInstruction(fields.string("instruction").orElse(null));
            List<String> firsts = ClassifierCall.texts(fields, "text_1");
            List<String> seconds = ClassifierCall.texts(fields, "text_2");
            fields.refuseOthers();
            if (firsts.size() != 1 && firsts.size() != seconds.size()) {
                throw ApiException.invalid(
                        "text_1",
                        "text_1 has " + firsts.size() + " texts, but text_2 has " + seconds.size()
                                + ": it must be one text, or as many");
            }
            TextResults results = admitted.encode(
                    call.encoder(),
                    options,
                    engine -> IntStream.range(0, seconds.size())
                            .mapToObj(pair -> engine.readPair(
                                    firsts.get(firsts.size() == 1 ? 0 : pair), seconds.get(pair), options))
                            .toList());
            exchange.sendJson(200, answer(exchange, call, results));
        }
    }

    private static JsonWriter answer(Exchange exchange, ClassifierCall call, TextResults results) {
        JsonWriter json = call.begin("score-" + exchange.id());
        int index = 0;
        for (float[] logits : results.vectors()) {
            json.object()
                    .field("index", index++)
                    .field("object", "score")
                    .field("score", Scores.of(logits, call.isRaw()).getFirst())
                    .endObject();
        }
        return ClassifierCall.end(json, results.tokens());
    }
}
