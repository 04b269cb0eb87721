package roselle.server.openai.encoder;

import java.util.List;
import roselle.embedding.EmbeddingOptions;
import roselle.embedding.TextResults;
import roselle.server.answer.Answers.AdmittedRequest;
import roselle.server.config.ServedEncoder;
import roselle.server.http.ApiException;
import roselle.server.http.JsonFields;
import roselle.server.http.JsonWriter;

/** The fields and the words that vLLM's paths of classifiers share. */
record ClassifierCall(ServedEncoder encoder, EmbeddingOptions options, boolean isRaw) {
    private static final int MOST_TEXTS = 2048;
    private static final String TO_THE_MODELS_LENGTH = "it must be -1, which leaves out what the model does not take";

    static ClassifierCall read(JsonFields fields, ServedEncoder encoder) {
        int length =
                fields.integer("truncate_prompt_tokens", -1, Integer.MAX_VALUE).orElse(0);
        if (length > 0 || (length == 0 && fields.has("truncate_prompt_tokens"))) {
            throw ApiException.invalid(
                    "truncate_prompt_tokens", "truncate_prompt_tokens is " + length + ": " + TO_THE_MODELS_LENGTH);
        }
        boolean isRaw = !fields.bool("use_activation", true);
        fields.requireDefault("priority", "an encoder's texts take turns, so it must be 0", 0L);
        fields.string("user");
        return new ClassifierCall(encoder, EmbeddingOptions.DEFAULT.withTruncate(length < 0), isRaw);
    }

    /** The texts of a field that must be there. */
    static List<String> texts(JsonFields fields, String name) {
        if (!fields.has(name)) {
            throw fields.missing(name);
        }
        List<String> texts = fields.strings(name, MOST_TEXTS);
        if (texts.isEmpty()) {
            throw ApiException.invalid(name, name + " is an empty array: it must have at least one text");
        }
        return texts;
    }

    /** What the encoder makes of texts, each by itself. */
    TextResults encode(AdmittedRequest admitted, List<String> texts) {
        return admitted.encode(
                encoder,
                options,
                engine -> texts.stream().map(text -> engine.read(text, options)).toList());
    }

    /** The beginning of an answer, up to its data. */
    JsonWriter begin(String id) {
        return new JsonWriter()
                .object()
                .field("id", id)
                .field("object", "list")
                .field("created", System.currentTimeMillis() / 1000)
                .field("model", encoder.name())
                .array("data");
    }

    /** The end of an answer, behind its data. */
    static JsonWriter end(JsonWriter json, int tokens) {
        return json.endArray()
                .object("usage")
                .field("prompt_tokens", tokens)
                .field("total_tokens", tokens)
                .endObject()
                .endObject();
    }
}
