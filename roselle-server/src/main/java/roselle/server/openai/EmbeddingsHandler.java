package roselle.server.openai;

import java.io.IOException;
import java.util.List;
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
import roselle.server.encoder.Inputs;
import roselle.server.encoder.Kinds;
import roselle.server.encoder.Vectors;
import roselle.server.http.ApiException;
import roselle.server.http.Exchange;
import roselle.server.http.Handler;
import roselle.server.http.JsonFields;
import roselle.server.openai.common.GenerationFields;
import roselle.server.prompt.PromptFields;

/**
 * {@code /v1/embeddings}: each text's vector, scaled to a length of 1 as OpenAI's are: an encoder's own, or the mean of a decoder's
 * last hidden states over all tokens.
 */
final class EmbeddingsHandler implements Handler {
    private final Answers answers;

    EmbeddingsHandler(Answers answers) {
        this.answers = answers;
    }

    @Override
    public void handle(Exchange exchange) throws IOException {
        try (var admitted = answers.admit(exchange)) {
            JsonFields fields = exchange.json();
            Served model = admitted.models().any(fields.string("model"));
            List<Prompt> texts = PromptFields.read(fields, "input");
            var answer = new EmbeddingsAnswer(Vectors.arePacked(fields));
            fields.string("user");
            switch (model) {
                case ServedModel decoder -> embed(fields, texts, answer, decoder, admitted);
                case ServedEncoder encoder -> embed(fields, texts, answer, encoder, admitted);
            }
            exchange.sendJson(200, answer.body(model.name()));
        }
    }

    private static void embed(
            JsonFields fields,
            List<Prompt> texts,
            EmbeddingsAnswer answer,
            ServedModel decoder,
            AdmittedRequest admitted) {
        SchedulingOptions scheduling = new GenerationFields(fields, decoder).scheduling();
        fields.string("task").ifPresent(task -> {
            throw ApiException.invalid("task", "task is " + task + ", but a model that generates has no tasks");
        });
        int dimensions = fields.integer("dimensions", 1, Integer.MAX_VALUE).orElse(0);
        fields.refuseOthers();
        DecoderVectors.read(admitted, decoder, texts, scheduling, dimensions, (vector, tokens) -> {
            answer.add(Vectors.normalized(vector));
            answer.count(tokens);
        });
    }

    private static void embed(
            JsonFields fields,
            List<Prompt> texts,
            EmbeddingsAnswer answer,
            ServedEncoder encoder,
            AdmittedRequest admitted) {
        Kinds.embedding(encoder);
        fields.requireDefault("priority", "an encoder's texts take turns, so it must be 0", 0L);
        fields.string("cache_salt"); // nothing of a text is kept
        EmbeddingOptions options = EmbeddingOptions.DEFAULT
                .withDimensions(Dimensions.read(fields, "dimensions", encoder))
                .withTask(fields.string("task").orElse(null));
        fields.refuseOthers();
        texts.forEach(EmbeddingsHandler::requirePlain);
        TextResults results = admitted.encode(encoder, options, engine -> Inputs.of(texts, engine, options));
        results.vectors().forEach(vector -> answer.add(Vectors.normalized(vector)));
        answer.count(results.tokens());
    }

    /** The texts of an encoder, whose special tokens are around them and nowhere else. */
    private static void requirePlain(Prompt prompt) {
        if (prompt instanceof Prompt.Text text && !text.addSpecial()) {
            throw ApiException.invalid(
                    "add_special_tokens",
                    "add_special_tokens is false: an encoder's texts have them; send token ids for others");
        }
        if (prompt instanceof Prompt.Text text && text.parseSpecial()) {
            throw ApiException.invalid(
                    "parse_special_tokens",
                    "parse_special_tokens is true: spellings of special tokens are plain text to an encoder");
        }
    }
}
