package roselle.server.openai;

import java.util.ArrayList;
import java.util.List;
import roselle.api.TokenLogprob;
import roselle.server.http.JsonText;

/** Log-probabilities in the form of completions: parallel lists, a position for each token. */
final class LogprobLists {
    private final List<String> tokens = new ArrayList<>();
    private final List<List<TokenLogprob>> scores = new ArrayList<>();
    private final List<Integer> offsets = new ArrayList<>();
    private int offset;

    /** Adds a token; {@code logprobs} has the token itself first and then the likeliest, or nothing for the first of all. */
    void add(String token, List<TokenLogprob> logprobs) {
        tokens.add(token);
        scores.add(logprobs);
        offsets.add(offset);
        offset += token.length();
    }

    /** Forgets the tokens, but not where in the text they ended. */
    void clear() {
        tokens.clear();
        scores.clear();
        offsets.clear();
    }

    void write(JsonText json) {
        list(json.raw("{\"tokens\":["), position -> json.string(tokens.get(position)));
        list(json.raw(",\"token_logprobs\":["), position -> own(json, scores.get(position)));
        list(json.raw(",\"top_logprobs\":["), position -> top(json, scores.get(position)));
        list(json.raw(",\"text_offset\":["), position -> json.number(offsets.get(position)));
        json.raw("}");
    }

    private void list(JsonText json, java.util.function.IntConsumer element) {
        for (int position = 0; position < tokens.size(); position++) {
            json.raw(position == 0 ? "" : ",");
            element.accept(position);
        }
        json.raw("]");
    }

    private static void own(JsonText json, List<TokenLogprob> logprobs) {
        if (logprobs.isEmpty()) {
            json.raw("null");
        } else {
            json.number(logprobs.getFirst().logprob());
        }
    }

    /** The likeliest tokens by their text; of two with the same text, such as halves of characters, the likelier. */
    private static void top(JsonText json, List<TokenLogprob> logprobs) {
        if (logprobs.isEmpty()) {
            json.raw("null");
            return;
        }
        var told = new java.util.HashSet<String>();
        json.raw("{");
        for (TokenLogprob each : logprobs.subList(1, logprobs.size())) {
            if (told.add(each.text())) {
                json.raw(told.size() == 1 ? "" : ",")
                        .string(each.text())
                        .raw(":")
                        .number(each.logprob());
            }
        }
        json.raw("}");
    }
}
