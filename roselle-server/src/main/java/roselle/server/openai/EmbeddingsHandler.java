package roselle.server.openai;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Base64;
import java.util.Deque;
import java.util.List;
import roselle.api.Prompt;
import roselle.engine.Embedding;
import roselle.server.answer.Answers;
import roselle.server.config.ServedModel;
import roselle.server.http.ApiException;
import roselle.server.http.Exchange;
import roselle.server.http.Handler;
import roselle.server.http.JsonFields;
import roselle.server.http.JsonWriter;
import roselle.server.openai.common.GenerationFields;

/**
 * {@code /v1/embeddings}: each text's vector, the mean of the decoder's last hidden states over all its tokens, scaled to a
 * length of 1 as OpenAI's are.
 */
final class EmbeddingsHandler implements Handler {
    /** Texts of one request that are in the engine at a time, so that a long list does not fill its queue. */
    private static final int AT_A_TIME = 32;

    private final Answers answers;

    EmbeddingsHandler(Answers answers) {
        this.answers = answers;
    }

    @Override
    public void handle(Exchange exchange) throws IOException {
        try (var admitted = answers.admit(exchange)) {
            JsonFields fields = exchange.json();
            ServedModel model = admitted.models().named(fields.string("model"));
            List<Prompt> texts = PromptFields.read(fields, "input");
            boolean isPacked = isPacked(fields);
            var scheduling = new GenerationFields(fields, model).scheduling();
            fields.string("user");
            int dimensions = fields.integer("dimensions", 1, Integer.MAX_VALUE).orElse(0);
            fields.refuseOthers();
            var answer = new Vectors(isPacked, dimensions);
            Deque<Embedding> running = new ArrayDeque<>();
            try {
                for (Prompt text : texts) {
                    if (running.size() == AT_A_TIME) {
                        answer.take(running);
                    }
                    running.add(admitted.embed(model, text, scheduling));
                }
                while (!running.isEmpty()) {
                    answer.take(running);
                }
            } finally {
                running.forEach(Embedding::close);
            }
            exchange.sendJson(200, answer.body(model));
        }
    }

    private static boolean isPacked(JsonFields fields) {
        String format = fields.string("encoding_format").orElse("float");
        return switch (format) {
            case "float" -> false;
            case "base64" -> true;
            default ->
                throw ApiException.invalid(
                        "encoding_format", "encoding_format is not known: it must be float or base64");
        };
    }

    /** The answer, as vectors come. */
    private static final class Vectors {
        private final boolean isPacked;
        private final int dimensions;
        private final JsonWriter json =
                new JsonWriter().object().field("object", "list").array("data");
        private int count;
        private long tokens;

        Vectors(boolean isPacked, int dimensions) {
            this.isPacked = isPacked;
            this.dimensions = dimensions;
        }

        /** Waits for the oldest text's vector. */
        void take(Deque<Embedding> running) {
            try (Embedding embedding = running.remove()) {
                add(normalized(embedding.vector()));
                tokens += embedding.tokens();
            }
        }

        private void add(float[] vector) {
            if (dimensions != 0 && dimensions != vector.length) {
                throw ApiException.invalid(
                        "dimensions",
                        "dimensions is " + dimensions + ", but the model's vectors have " + vector.length
                                + " and cannot be cut");
            }
            json.object().field("object", "embedding").field("index", count++).name("embedding");
            if (isPacked) {
                json.value(packed(vector));
            } else {
                listed(vector);
            }
            json.endObject();
        }

        private void listed(float[] vector) {
            json.array();
            for (float number : vector) {
                json.value(number);
            }
            json.endArray();
        }

        /** Little-endian float32, as OpenAI's clients read it. */
        private static String packed(float[] vector) {
            var bytes = ByteBuffer.allocate(Float.BYTES * vector.length).order(ByteOrder.LITTLE_ENDIAN);
            bytes.asFloatBuffer().put(vector);
            return Base64.getEncoder().encodeToString(bytes.array());
        }

        private static float[] normalized(float[] vector) {
            double squares = 0;
            for (float number : vector) {
                squares += (double) number * number;
            }
            if (squares == 0) {
                return vector;
            }
            double scale = 1 / Math.sqrt(squares);
            var normalized = new float[vector.length];
            for (int index = 0; index < vector.length; index++) {
                normalized[index] = (float) (vector[index] * scale);
            }
            return normalized;
        }

        JsonWriter body(ServedModel model) {
            json.endArray().field("model", model.name()).object("usage");
            json.field("prompt_tokens", tokens).field("total_tokens", tokens);
            return json.endObject().endObject();
        }
    }
}
