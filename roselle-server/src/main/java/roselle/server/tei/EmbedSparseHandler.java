package roselle.server.tei;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import roselle.api.Prompt;
import roselle.embedding.EmbeddingOptions;
import roselle.embedding.SparseVector;
import roselle.embedding.TextResults;
import roselle.server.answer.Answers;
import roselle.server.config.ServedEncoder;
import roselle.server.encoder.Inputs;
import roselle.server.encoder.Kinds;
import roselle.server.http.Exchange;
import roselle.server.http.Handler;
import roselle.server.http.JsonFields;
import roselle.server.http.JsonWriter;
import roselle.server.prompt.PromptFields;

/** {@code /embed_sparse}: of each text the tokens that count, with their weights. */
final class EmbedSparseHandler implements Handler {
    private final Answers answers;

    EmbedSparseHandler(Answers answers) {
        this.answers = answers;
    }

    @Override
    public void handle(Exchange exchange) throws IOException {
        try (var admitted = answers.admit(exchange)) {
            JsonFields fields = exchange.json();
            ServedEncoder encoder = Kinds.sparse(admitted.models(), fields.string("model"));
            List<Prompt> texts = PromptFields.plain(fields, "inputs");
            EmbeddingOptions options = EmbeddingOptions.DEFAULT.withSparse(true).withTruncate(Truncation.read(fields));
            Optional<String> prompt = fields.string("prompt_name");
            EmbeddingOptions prompted = prompt.isPresent() ? options.withPrompt(prompt.orElseThrow()) : options;
            fields.refuseOthers();
            TextResults results = admitted.encode(encoder, prompted, engine -> Inputs.of(texts, engine, prompted));
            var json = new JsonWriter().array();
            for (float[] pairs : results.vectors()) {
                write(json, SparseVector.of(pairs));
            }
            exchange.sendJson(200, json.endArray());
        }
    }

    private static void write(JsonWriter json, SparseVector vector) {
        json.array();
        for (int i = 0; i < vector.indices().length; i++) {
            json.object();
            json.field("index", vector.indices()[i]);
            json.field("value", vector.values()[i]);
            json.endObject();
        }
        json.endArray();
    }
}
