package roselle.server.ollama;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import roselle.embedding.EmbeddingOptions;
import roselle.embedding.TextResults;
import roselle.server.answer.Answers;
import roselle.server.answer.Answers.AdmittedRequest;
import roselle.server.config.ServedEncoder;
import roselle.server.encoder.Dimensions;
import roselle.server.encoder.Vectors;
import roselle.server.http.Exchange;
import roselle.server.http.JsonFields;
import roselle.server.http.JsonWriter;

/** {@code /api/embed}: vectors of a length of 1; and the older {@code /api/embeddings}: one, as the model gives it. */
final class EmbedHandler {
    private static final int MOST_TEXTS = 2048;

    private final Answers answers;

    EmbedHandler(Answers answers) {
        this.answers = answers;
    }

    void embed(Exchange exchange) throws IOException {
        long begin = System.nanoTime();
        try (var admitted = answers.admit(exchange)) {
            JsonFields fields = exchange.json();
            ServedEncoder encoder = encoder(fields, admitted, exchange);
            long loaded = System.nanoTime();
            if (!fields.has("input")) {
                throw fields.missing("input");
            }
            List<String> texts = fields.strings("input", MOST_TEXTS);
            EmbeddingOptions options = EmbeddingOptions.DEFAULT
                    .withDimensions(Dimensions.read(fields, "dimensions", encoder))
                    .withTruncate(fields.bool("truncate", false));
            fields.refuseOthers();
            TextResults results = vectors(admitted, encoder, texts, options);
            var json = new JsonWriter().object().field("model", encoder.name()).array("embeddings");
            results.vectors().forEach(vector -> Vectors.write(json, Vectors.normalized(vector)));
            json.endArray()
                    .field("total_duration", System.nanoTime() - begin)
                    .field("load_duration", loaded - begin)
                    .field("prompt_eval_count", results.tokens());
            exchange.sendJson(200, json.endObject());
        }
    }

    void older(Exchange exchange) throws IOException {
        try (var admitted = answers.admit(exchange)) {
            JsonFields fields = exchange.json();
            ServedEncoder encoder = encoder(fields, admitted, exchange);
            String text = fields.requiredString("prompt");
            fields.refuseOthers();
            TextResults results = vectors(admitted, encoder, List.of(text), EmbeddingOptions.DEFAULT);
            var json = new JsonWriter().object().name("embedding");
            Vectors.write(json, results.vectors().getFirst());
            exchange.sendJson(200, json.endObject());
        }
    }

    private static ServedEncoder encoder(JsonFields fields, AdmittedRequest admitted, Exchange exchange) {
        ServedEncoder encoder = ModelNames.encoder(fields, admitted.models());
        fields.requireDefault("options", "no vector depends on them here", Map.of());
        Optional<Duration> time = KeepAlive.read(fields, admitted.models());
        KeepAlive.requireAllowed(time, exchange);
        time.ifPresent(admitted::keepAlive);
        return encoder;
    }

    private static TextResults vectors(
            AdmittedRequest admitted, ServedEncoder encoder, List<String> texts, EmbeddingOptions options) {
        return admitted.encode(
                encoder,
                options,
                engine -> texts.stream().map(text -> engine.read(text, options)).toList());
    }
}
