package roselle.server.answer;

import java.nio.charset.StandardCharsets;
import java.util.List;
import roselle.api.TokenLogprob;
import roselle.server.http.JsonWriter;

/** Log-probabilities in the form that APIs share. */
public final class Logprobs {
    /** The least that is told: JSON has no infinities. */
    private static final float LEAST = -9999;

    private Logprobs() {}

    /** The array of all positions. */
    public static void writeAll(JsonWriter json, List<List<TokenLogprob>> positions) {
        json.array();
        for (List<TokenLogprob> position : positions) {
            write(json, position);
        }
        json.endArray();
    }

    /** One position: its token first, then the likeliest ones as {@code top_logprobs}. */
    public static void write(JsonWriter json, List<TokenLogprob> position) {
        token(json.object(), position.getFirst()).array("top_logprobs");
        for (TokenLogprob top : position.subList(1, position.size())) {
            token(json.object(), top).endObject();
        }
        json.endArray().endObject();
    }

    private static JsonWriter token(JsonWriter json, TokenLogprob token) {
        json.field("token", token.text())
                .field("logprob", bounded(token.logprob()))
                .array("bytes");
        for (byte unit : token.text().getBytes(StandardCharsets.UTF_8)) {
            json.value(unit & 0xFF);
        }
        return json.endArray();
    }

    /** The number within what JSON can say. */
    public static float bounded(float logprob) {
        return Float.isNaN(logprob) ? LEAST : Math.clamp(logprob, LEAST, -LEAST);
    }
}
