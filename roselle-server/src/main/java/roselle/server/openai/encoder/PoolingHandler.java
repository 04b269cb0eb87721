package roselle.server.openai.encoder;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import roselle.embedding.EmbeddingEngine;
import roselle.embedding.TextResults;
import roselle.server.answer.Answers;
import roselle.server.encoder.Kinds;
import roselle.server.encoder.Scores;
import roselle.server.encoder.Vectors;
import roselle.server.http.ApiException;
import roselle.server.http.Exchange;
import roselle.server.http.Handler;
import roselle.server.http.JsonFields;
import roselle.server.http.JsonWriter;

/** {@code POST /pooling} of vLLM: whatever a model makes of texts, be it vectors, scores, or the scores of each token. */
final class PoolingHandler implements Handler {
    private static final List<String> TASKS = List.of("embed", "classify", "token_classify");

    private final Answers answers;

    PoolingHandler(Answers answers) {
        this.answers = answers;
    }

    @Override
    public void handle(Exchange exchange) throws IOException {
        try (var admitted = answers.admit(exchange)) {
            JsonFields fields = exchange.json();
            ClassifierCall call = ClassifierCall.read(fields, Kinds.any(admitted.models(), fields.string("model")));
            List<String> texts = ClassifierCall.texts(fields, "input");
            requireTask(fields, call.encoder().engine());
            boolean isPacked = Vectors.arePacked(fields);
            fields.refuseOthers();
            exchange.sendJson(200, answer(exchange, call, isPacked, call.encode(admitted, texts)));
        }
    }

    /** Refuses a task that is not the model's. */
    private static void requireTask(JsonFields fields, EmbeddingEngine engine) {
        String own = task(engine);
        String asked = fields.string("task").orElse(own);
        if (!asked.equals(own)) {
            throw ApiException.invalid("task", "task is none that the model has: its task is " + own);
        }
    }

    private static String task(EmbeddingEngine engine) {
        if (engine.labels().isEmpty()) {
            return TASKS.get(0);
        }
        return engine.isTokenClassifier() ? TASKS.get(2) : TASKS.get(1);
    }

    private static JsonWriter answer(Exchange exchange, ClassifierCall call, boolean isPacked, TextResults results) {
        JsonWriter json = call.begin("pool-" + exchange.id());
        int index = 0;
        for (float[] numbers : results.vectors()) {
            json.object().field("index", index++).field("object", "pooling").name("data");
            float[] shown = shown(call, numbers);
            if (isPacked) {
                json.value(Vectors.packed(shown));
            } else if (call.encoder().engine().isTokenClassifier()) {
                writeRows(json, shown, call.encoder().engine().labels().size());
            } else {
                Vectors.write(json, shown);
            }
            json.endObject();
        }
        return ClassifierCall.end(json, results.tokens());
    }

    /** Vectors as they are; logits, of the text or of each token, as they are asked for. */
    private static float[] shown(ClassifierCall call, float[] numbers) {
        int labels = call.encoder().engine().labels().size();
        if (labels == 0 || call.isRaw()) {
            return numbers;
        }
        var shown = new float[numbers.length];
        for (int from = 0; from < numbers.length; from += labels) {
            List<Double> scores = Scores.of(Arrays.copyOfRange(numbers, from, from + labels), false);
            for (int i = 0; i < labels; i++) {
                shown[from + i] = scores.get(i).floatValue();
            }
        }
        return shown;
    }

    private static void writeRows(JsonWriter json, float[] numbers, int width) {
        json.array();
        for (int from = 0; from < numbers.length; from += width) {
            Vectors.write(json, Arrays.copyOfRange(numbers, from, from + width));
        }
        json.endArray();
    }
}
