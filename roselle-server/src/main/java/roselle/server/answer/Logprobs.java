package roselle.server.answer;

import java.nio.charset.StandardCharsets;
import java.util.List;
import roselle.api.TokenLogprob;
import roselle.server.http.JsonText;

/** Log-probabilities in the form that OpenAI's chat completions and responses share. */
public final class Logprobs {
    private Logprobs() {}

    /** The array of all positions. */
    public static void writeAll(JsonText json, List<List<TokenLogprob>> positions) {
        json.raw("[");
        String separator = "";
        for (List<TokenLogprob> position : positions) {
            write(json.raw(separator), position);
            separator = ",";
        }
        json.raw("]");
    }

    /** One position: its token first, then the likeliest ones as {@code top_logprobs}. */
    public static void write(JsonText json, List<TokenLogprob> position) {
        json.raw("{");
        token(json, position.getFirst());
        json.raw(",\"top_logprobs\":[");
        String separator = "{";
        for (TokenLogprob top : position.subList(1, position.size())) {
            token(json.raw(separator), top);
            json.raw("}");
            separator = ",{";
        }
        json.raw("]}");
    }

    private static void token(JsonText json, TokenLogprob token) {
        json.raw("\"token\":").string(token.text()).raw(",\"logprob\":").number(token.logprob());
        json.raw(",\"bytes\":[");
        String separator = "";
        for (byte unit : token.text().getBytes(StandardCharsets.UTF_8)) {
            json.raw(separator).number(unit & 0xFF);
            separator = ",";
        }
        json.raw("]");
    }
}
