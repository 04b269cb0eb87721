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
import roselle.server.answer.GenerationFields;
import roselle.server.config.ServedModel;
import roselle.server.http.ApiException;
import roselle.server.http.Exchange;
import roselle.server.http.Handler;
import roselle.server.http.JsonFields;
import roselle.server.http.JsonText;

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
        try (var visit = answers.admit(exchange)) {
            JsonFields fields = exchange.json();
            ServedModel model = answers.models().named(fields.string("model"));
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
                    running.add(visit.embed(model, text, scheduling));
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
        private final JsonText json = new JsonText().raw("{\"object\":\"list\",\"data\":[");
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
            json.raw(count == 0 ? "" : ",")
                    .raw("{\"object\":\"embedding\",\"index\":")
                    .number(count++);
            json.raw(",\"embedding\":");
            if (isPacked) {
                json.raw("\"").raw(packed(vector)).raw("\"");
            } else {
                listed(vector);
            }
            json.raw("}");
        }

        private void listed(float[] vector) {
            String separator = "[";
            for (float number : vector) {
                json.raw(separator).number(number);
                separator = ",";
            }
            json.raw("]");
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

        JsonText body(ServedModel model) {
            return json.raw("],\"model\":")
                    .string(model.name())
                    .raw(",\"usage\":{\"prompt_tokens\":")
                    .number(tokens)
                    .raw(",\"total_tokens\":")
                    .number(tokens)
                    .raw("}}");
        }
    }
}
