package roselle.server.tei;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import roselle.api.Prompt;
import roselle.embedding.EmbeddingOptions;
import roselle.embedding.TextResults;
import roselle.server.answer.Answers;
import roselle.server.config.ServedEncoder;
import roselle.server.encoder.Dimensions;
import roselle.server.encoder.Inputs;
import roselle.server.encoder.Kinds;
import roselle.server.encoder.Vectors;
import roselle.server.http.Exchange;
import roselle.server.http.Handler;
import roselle.server.http.JsonFields;
import roselle.server.http.JsonWriter;
import roselle.server.prompt.PromptFields;

/** {@code /embed}: a list of the vectors of texts, of a length of 1 unless they are wanted as the model gives them. */
final class EmbedHandler implements Handler {
    private final Answers answers;

    EmbedHandler(Answers answers) {
        this.answers = answers;
    }

    @Override
    public void handle(Exchange exchange) throws IOException {
        try (var admitted = answers.admit(exchange)) {
            JsonFields fields = exchange.json();
            ServedEncoder encoder = Kinds.embedding(admitted.models(), fields.string("model"));
            List<Prompt> texts = PromptFields.plain(fields, "inputs");
            boolean normalizes = fields.bool("normalize", true);
            EmbeddingOptions options = EmbeddingOptions.DEFAULT
                    .withDimensions(Dimensions.read(fields, "dimensions", encoder))
                    .withTruncate(Truncation.read(fields));
            Optional<String> prompt = fields.string("prompt_name");
            EmbeddingOptions prompted = prompt.isPresent() ? options.withPrompt(prompt.orElseThrow()) : options;
            fields.refuseOthers();
            TextResults results = admitted.encode(encoder, prompted, engine -> Inputs.of(texts, engine, prompted));
            var json = new JsonWriter().array();
            for (float[] vector : results.vectors()) {
                Vectors.write(json, normalizes ? Vectors.normalized(vector) : vector);
            }
            exchange.sendJson(200, json.endArray());
        }
    }
}
