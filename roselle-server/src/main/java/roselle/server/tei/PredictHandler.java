package roselle.server.tei;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import roselle.embedding.EmbeddingOptions;
import roselle.embedding.TextResults;
import roselle.server.answer.Answers;
import roselle.server.config.ServedEncoder;
import roselle.server.encoder.Kinds;
import roselle.server.encoder.Scores;
import roselle.server.http.ApiException;
import roselle.server.http.Exchange;
import roselle.server.http.Handler;
import roselle.server.http.JsonFields;
import roselle.server.http.JsonWriter;
import tools.jackson.databind.JsonNode;

/** {@code /predict}: the labels of texts or of pairs of texts with their scores, the likeliest first. */
final class PredictHandler implements Handler {
    private static final int MOST_TEXTS = 2048;
    private static final String KINDS = "a text, an array of one text or of a pair, or an array of such arrays";

    private final Answers answers;

    PredictHandler(Answers answers) {
        this.answers = answers;
    }

    @Override
    public void handle(Exchange exchange) throws IOException {
        try (var admitted = answers.admit(exchange)) {
            JsonFields fields = exchange.json();
            ServedEncoder encoder = Kinds.classifier(admitted.models(), fields.string("model"));
            JsonNode given = fields.any("inputs").orElseThrow(() -> fields.missing("inputs"));
            boolean isBatch =
                    given.isArray() && !given.isEmpty() && given.get(0).isArray();
            List<List<String>> texts = isBatch ? batch(given) : List.of(oneOrTwo(given, "inputs"));
            boolean isRaw = fields.bool("raw_scores", false);
            EmbeddingOptions options = EmbeddingOptions.DEFAULT.withTruncate(Truncation.read(fields));
            fields.refuseOthers();
            TextResults results = admitted.encode(
                    encoder,
                    options,
                    engine -> texts.stream()
                            .map(each -> each.size() == 1
                                    ? engine.read(each.getFirst(), options)
                                    : engine.readPair(each.getFirst(), each.getLast(), options))
                            .toList());
            exchange.sendJson(200, answer(encoder, results, isBatch, isRaw));
        }
    }

    private static List<List<String>> batch(JsonNode given) {
        if (given.size() > MOST_TEXTS) {
            throw ApiException.invalid("inputs", "inputs has " + given.size() + " entries: at most " + MOST_TEXTS);
        }
        var batch = new ArrayList<List<String>>();
        for (JsonNode each : given.values()) {
            batch.add(oneOrTwo(each, "inputs[" + batch.size() + "]"));
        }
        return batch;
    }

    private static List<String> oneOrTwo(JsonNode given, String path) {
        if (given.isString()) {
            return List.of(given.stringValue());
        }
        boolean isOneOrTwo = given.isArray()
                && (given.size() == 1 || given.size() == 2)
                && given.valueStream().allMatch(JsonNode::isString);
        if (!isOneOrTwo) {
            throw JsonFields.wrongType(path, given, KINDS);
        }
        return given.valueStream().map(JsonNode::stringValue).toList();
    }

    private static JsonWriter answer(ServedEncoder encoder, TextResults results, boolean isBatch, boolean isRaw) {
        List<String> labels = encoder.engine().labels();
        var json = new JsonWriter();
        if (isBatch) {
            json.array();
        }
        for (float[] logits : results.vectors()) {
            List<Double> scores = Scores.of(logits, isRaw);
            json.array();
            for (int label : Scores.order(scores)) {
                json.object()
                        .field("score", scores.get(label))
                        .field("label", labels.get(label))
                        .endObject();
            }
            json.endArray();
        }
        return isBatch ? json.endArray() : json;
    }
}
