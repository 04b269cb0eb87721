package roselle.server.responses;

import java.nio.charset.StandardCharsets;
import java.util.List;
import roselle.api.TokenLogprob;
import roselle.server.http.JsonText;

/** Log-probabilities of tokens, each with those of the likeliest tokens beside it. */
final class Logprobs {
    private Logprobs() {}

    /** Writes the array of all tokens; each has itself first, then the likeliest. */
    static void write(JsonText json, List<List<TokenLogprob>> tokens) {
        json.raw("[");
        String separator = "";
        for (List<TokenLogprob> token : tokens) {
            token(json.raw(separator), token);
            separator = ",";
        }
        json.raw("]");
    }

    private static void token(JsonText json, List<TokenLogprob> scores) {
        json.raw("{");
        one(json, scores.getFirst());
        json.raw(",\"top_logprobs\":[");
        String separator = "{";
        for (TokenLogprob top : scores.subList(1, scores.size())) {
            one(json.raw(separator), top);
            json.raw("}");
            separator = ",{";
        }
        json.raw("]}");
    }

    private static void one(JsonText json, TokenLogprob token) {
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
