package roselle.server.openai;

import roselle.server.encoder.Vectors;
import roselle.server.http.JsonWriter;

/** The vectors of {@code /v1/embeddings}, written as they come. */
final class EmbeddingsAnswer {
    private final boolean isPacked;
    private final JsonWriter json =
            new JsonWriter().object().field("object", "list").array("data");
    private int vectors;
    private long tokens;

    EmbeddingsAnswer(boolean isPacked) {
        this.isPacked = isPacked;
    }

    void add(float[] vector) {
        json.object().field("object", "embedding").field("index", vectors++).name("embedding");
        if (isPacked) {
            json.value(Vectors.packed(vector));
        } else {
            Vectors.write(json, vector);
        }
        json.endObject();
    }

    /** So many tokens were read. */
    void count(int read) {
        tokens += read;
    }

    JsonWriter body(String model) {
        json.endArray().field("model", model).object("usage");
        json.field("prompt_tokens", tokens).field("total_tokens", tokens);
        return json.endObject().endObject();
    }
}
