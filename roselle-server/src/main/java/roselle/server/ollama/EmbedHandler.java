package roselle.server.ollama;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import roselle.api.Prompt;
import roselle.api.SchedulingOptions;
import roselle.embedding.EmbeddingOptions;
import roselle.embedding.TextResults;
import roselle.server.answer.Answers;
import roselle.server.answer.Answers.AdmittedRequest;
import roselle.server.config.Served;
import roselle.server.config.ServedEncoder;
import roselle.server.config.ServedModel;
import roselle.server.encoder.DecoderVectors;
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

    /** What texts gave. */
    private record Read(List<float[]> vectors, int tokens) {}

    void embed(Exchange exchange) throws IOException {
        long begin = System.nanoTime();
        try (var admitted = answers.admit(exchange)) {
            JsonFields fields = exchange.json();
            Served model = model(fields, admitted, exchange);
            long loaded = System.nanoTime();
            if (!fields.has("input")) {
                throw fields.missing("input");
            }
            List<String> texts = fields.strings("input", MOST_TEXTS);
            boolean cuts = fields.bool("truncate", false);
            Read read = switch (model) {
                case ServedModel decoder -> {
                    int width =
                            fields.integer("dimensions", 1, Integer.MAX_VALUE).orElse(0);
                    fields.refuseOthers();
                    yield read(admitted, decoder, prompts(texts, cuts, decoder, admitted), width);
                }
                case ServedEncoder encoder -> {
                    EmbeddingOptions options = EmbeddingOptions.DEFAULT
                            .withDimensions(Dimensions.read(fields, "dimensions", encoder))
                            .withTruncate(cuts);
                    fields.refuseOthers();
                    yield read(admitted, encoder, texts, options);
                }
            };
            var json = new JsonWriter().object().field("model", model.name()).array("embeddings");
            read.vectors().forEach(vector -> Vectors.write(json, Vectors.normalized(vector)));
            json.endArray()
                    .field("total_duration", System.nanoTime() - begin)
                    .field("load_duration", loaded - begin)
                    .field("prompt_eval_count", read.tokens());
            exchange.sendJson(200, json.endObject());
        }
    }

    void older(Exchange exchange) throws IOException {
        try (var admitted = answers.admit(exchange)) {
            JsonFields fields = exchange.json();
            Served model = model(fields, admitted, exchange);
            List<String> texts = List.of(fields.requiredString("prompt"));
            fields.refuseOthers();
            Read read = switch (model) {
                case ServedModel decoder -> read(admitted, decoder, prompts(texts, false, decoder, admitted), 0);
                case ServedEncoder encoder -> read(admitted, encoder, texts, EmbeddingOptions.DEFAULT);
            };
            var json = new JsonWriter().object().name("embedding");
            Vectors.write(json, read.vectors().getFirst());
            exchange.sendJson(200, json.endObject());
        }
    }

    private static Served model(JsonFields fields, AdmittedRequest admitted, Exchange exchange) {
        Served model = ModelNames.embedding(fields, admitted.models());
        fields.requireDefault("options", "no vector depends on them here", Map.of());
        Optional<Duration> time = KeepAlive.read(fields, admitted.models());
        KeepAlive.requireAllowed(time, exchange);
        time.ifPresent(admitted::keepAlive);
        return model;
    }

    private static List<Prompt> prompts(
            List<String> texts, boolean cuts, ServedModel decoder, AdmittedRequest admitted) {
        return texts.stream()
                .map(text -> new Prompt.Text(text, true, false))
                .map(text -> cuts ? cut(text, decoder, admitted) : text)
                .toList();
    }

    /** As much of a text as a context can hold, in which a token more must have room. */
    private static Prompt cut(Prompt text, ServedModel decoder, AdmittedRequest admitted) {
        int[] ids = decoder.engine().tokenize(text, admitted.group());
        int most = decoder.context() - 1;
        return ids.length <= most ? text : Prompt.Tokens.of(Arrays.copyOf(ids, most));
    }

    private static Read read(AdmittedRequest admitted, ServedModel decoder, List<Prompt> texts, int dimensions) {
        var vectors = new ArrayList<float[]>();
        var tokens = new int[1];
        DecoderVectors.read(admitted, decoder, texts, SchedulingOptions.DEFAULT, dimensions, (vector, read) -> {
            vectors.add(vector);
            tokens[0] += read;
        });
        return new Read(vectors, tokens[0]);
    }

    private static Read read(
            AdmittedRequest admitted, ServedEncoder encoder, List<String> texts, EmbeddingOptions options) {
        TextResults results = admitted.encode(
                encoder,
                options,
                engine -> texts.stream().map(text -> engine.read(text, options)).toList());
        return new Read(results.vectors(), results.tokens());
    }
}
