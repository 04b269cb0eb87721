package roselle.server.cohere;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import roselle.embedding.EmbeddingOptions;
import roselle.embedding.TextResults;
import roselle.server.answer.Answers;
import roselle.server.config.ServedEncoder;
import roselle.server.encoder.Dimensions;
import roselle.server.encoder.Kinds;
import roselle.server.encoder.Vectors;
import roselle.server.http.ApiException;
import roselle.server.http.Exchange;
import roselle.server.http.Handler;
import roselle.server.http.JsonFields;
import roselle.server.http.JsonWriter;

/** {@code /v2/embed}: vectors of texts, as numbers or packed; what texts are for chooses among the model's prompts. */
final class EmbedHandler implements Handler {
    private static final int MOST_TEXTS = 2048;
    private static final String FLOAT = "float";
    private static final String BASE64 = "base64";

    /** The names of prompts, by what texts are for; a model without such a prompt treats all texts alike. */
    private static final Map<String, List<String>> PROMPTS = Map.of(
            "search_document",
            List.of("document", "passage", "search_document"),
            "search_query",
            List.of("query", "search_query"),
            "classification",
            List.of("classification", "Classification"),
            "clustering",
            List.of("clustering", "Clustering"));

    private final Answers answers;

    EmbedHandler(Answers answers) {
        this.answers = answers;
    }

    @Override
    public void handle(Exchange exchange) throws IOException {
        try (var admitted = answers.admit(exchange)) {
            JsonFields fields = exchange.json();
            ServedEncoder encoder = Kinds.embedding(admitted.models(), fields.string("model"));
            List<String> texts = texts(fields);
            List<String> types = types(fields);
            EmbeddingOptions options = EmbeddingOptions.DEFAULT
                    .withPrompt(prompt(fields, encoder))
                    .withDimensions(Dimensions.read(fields, "output_dimension", encoder))
                    .withTruncate(truncates(fields));
            fields.requireDefault("images", "models read texts alone");
            fields.requireDefault("inputs", "send texts");
            fields.requireDefault("max_tokens", "a text is cut for the model alone, where truncate is END");
            fields.requireDefault("priority", "an encoder's texts take turns, so it must be 0", 0L);
            fields.refuseOthers();
            TextResults results = admitted.encode(
                    encoder,
                    options,
                    engine -> texts.stream()
                            .map(text -> engine.read(text, options))
                            .toList());
            exchange.sendJson(200, answer(exchange, texts, types, results));
        }
    }

    private static List<String> texts(JsonFields fields) {
        if (!fields.has("texts")) {
            throw fields.missing("texts");
        }
        List<String> texts = fields.strings("texts", MOST_TEXTS);
        if (texts.isEmpty()) {
            throw ApiException.invalid("texts", "texts is an empty array: it must have at least one text");
        }
        return texts;
    }

    private static List<String> types(JsonFields fields) {
        List<String> types = fields.strings("embedding_types", 2);
        for (String type : types) {
            if (!type.equals(FLOAT) && !type.equals(BASE64)) {
                throw ApiException.invalid(
                        "embedding_types", "embedding_types has one that is not here: there are float and base64");
            }
        }
        return types.isEmpty() ? List.of(FLOAT) : types.stream().distinct().toList();
    }

    private static String prompt(JsonFields fields, ServedEncoder encoder) {
        String use = fields.requiredString("input_type");
        List<String> names = PROMPTS.get(use);
        if (names == null) {
            throw ApiException.invalid(
                    "input_type",
                    "input_type is not known: it must be search_document, search_query, classification or clustering");
        }
        return names.stream()
                .filter(encoder.engine().prompts()::containsKey)
                .findFirst()
                .orElse("");
    }

    private static boolean truncates(JsonFields fields) {
        String end = fields.string("truncate").orElse("NONE");
        return switch (end) {
            case "NONE" -> false;
            case "END" -> true;
            default ->
                throw ApiException.invalid("truncate", "truncate must be NONE, which refuses what is too long, or END");
        };
    }

    private static JsonWriter answer(Exchange exchange, List<String> texts, List<String> types, TextResults results) {
        var json = new JsonWriter().object().field("id", exchange.id()).object("embeddings");
        for (String type : types) {
            json.array(type);
            for (float[] vector : results.vectors()) {
                if (type.equals(BASE64)) {
                    json.value(Vectors.packed(vector));
                } else {
                    Vectors.write(json, vector);
                }
            }
            json.endArray();
        }
        json.endObject().array("texts");
        texts.forEach(json::value);
        json.endArray().object("meta");
        json.object("api_version").field("version", "2").endObject();
        json.object("billed_units").field("input_tokens", results.tokens()).endObject();
        return json.endObject().field("response_type", "embeddings_by_type").endObject();
    }
}
