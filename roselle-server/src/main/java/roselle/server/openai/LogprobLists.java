package roselle.server.openai;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.function.IntConsumer;
import roselle.api.TokenLogprob;
import roselle.server.answer.Logprobs;
import roselle.server.http.JsonWriter;

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

    void write(JsonWriter json) {
        json.object();
        list(json.array("tokens"), position -> json.value(tokens.get(position)));
        list(json.array("token_logprobs"), position -> own(json, scores.get(position)));
        list(json.array("top_logprobs"), position -> top(json, scores.get(position)));
        list(json.array("text_offset"), position -> json.value(offsets.get(position)));
        json.endObject();
    }

    private void list(JsonWriter json, IntConsumer element) {
        for (int position = 0; position < tokens.size(); position++) {
            element.accept(position);
        }
        json.endArray();
    }

    private static void own(JsonWriter json, List<TokenLogprob> logprobs) {
        if (logprobs.isEmpty()) {
            json.nullValue();
        } else {
            json.value(Logprobs.bounded(logprobs.getFirst().logprob()));
        }
    }

    /** The likeliest tokens by their text; of two with the same text, such as halves of characters, the likelier. */
    private static void top(JsonWriter json, List<TokenLogprob> logprobs) {
        if (logprobs.isEmpty()) {
            json.nullValue();
            return;
        }
        var told = new HashSet<String>();
        json.object();
        for (TokenLogprob each : logprobs.subList(1, logprobs.size())) {
            if (told.add(each.text())) {
                json.field(each.text(), Logprobs.bounded(each.logprob()));
            }
        }
        json.endObject();
    }
}
