package roselle.server.tgi;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import roselle.api.GenerationEvent;
import roselle.api.GenerationEvent.ChoiceEnded;
import roselle.api.GenerationEvent.Failed;
import roselle.api.GenerationEvent.Finished;
import roselle.api.GenerationEvent.PromptScored;
import roselle.api.GenerationEvent.Reasoning;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.GenerationEvent.ToolCall;
import roselle.api.GenerationEvent.ToolCallDelta;
import roselle.api.GenerationEvent.ToolCallStarted;
import roselle.api.TokenLogprob;
import roselle.server.answer.Logprobs;
import roselle.server.http.JsonWriter;
import roselle.server.tgi.AnswerTokens.Piece;
import roselle.tokenizer.Tokenizer;

/** A continuation in the making: told as a whole, or token by token, of which the last one tells it all. */
final class GenerateAnswer {
    private final GenerateCall.Shape shape;
    private final Tokenizer tokenizer;
    private final int promptTokens;
    private final List<AnswerTokens> choices;
    private final List<Integer> promptIds = new ArrayList<>();
    private final List<List<TokenLogprob>> promptScores = new ArrayList<>();

    GenerateAnswer(GenerateCall call, int promptTokens) {
        shape = call.shape();
        tokenizer = call.model().engine().tokenizer();
        this.promptTokens = promptTokens;
        choices = Stream.generate(AnswerTokens::new)
                .limit(call.request().output().choices())
                .toList();
    }

    void add(GenerationEvent event) {
        switch (event) {
            case PromptScored scored -> {
                promptIds.addAll(scored.ids());
                promptScores.addAll(scored.logprobs());
            }
            case TokenGenerated token -> choices.get(token.choice()).add(token);
            case ChoiceEnded end -> choices.get(end.choice()).end(end);
            case Finished _,
                    Reasoning _,
                    ToolCallStarted _,
                    ToolCallDelta _,
                    ToolCall _,
                    Failed _ -> {} // of no use, of chats alone, not handed out
        }
    }

    // ---- the whole ----

    JsonWriter write(JsonWriter json) {
        List<AnswerTokens> bestFirst = choices.stream()
                .sorted(Comparator.comparingDouble(AnswerTokens::meanLogprob).reversed())
                .toList();
        if (shape.isList()) {
            json.array();
        }
        AnswerTokens best = bestFirst.getFirst();
        json.object().field("generated_text", shape.lead() + best.text());
        if (shape.hasDetails()) {
            details(json.object("details"), best);
            if (bestFirst.size() > 1) {
                json.array("best_of_sequences");
                for (AnswerTokens other : bestFirst.subList(1, bestFirst.size())) {
                    json.object().field("generated_text", shape.lead() + other.text());
                    details(json, other);
                    json.endObject();
                }
                json.endArray();
            }
            json.endObject();
        }
        json.endObject();
        return shape.isList() ? json.endArray() : json;
    }

    private void details(JsonWriter json, AnswerTokens answer) {
        end(json, answer).array("prefill");
        for (int position = 0; position < promptIds.size(); position++) {
            prompt(json.object(), promptIds.get(position), promptScores.get(position));
        }
        json.endArray().array("tokens");
        answer.pieces().forEach(piece -> token(json.object(), piece));
        json.endArray();
        if (shape.topTokens() > 0) {
            json.array("top_tokens");
            answer.pieces().forEach(piece -> likeliest(json.array(), piece));
            json.endArray();
        }
    }

    private void prompt(JsonWriter json, int id, List<TokenLogprob> scores) {
        json.field("id", id);
        if (scores.isEmpty()) { // the first, which follows nothing
            json.field("text", tokenizer.decode(new int[] {id}, false)).nullField("logprob");
        } else {
            json.field("text", scores.getFirst().text())
                    .field("logprob", Logprobs.bounded(scores.getFirst().logprob()));
        }
        json.endObject();
    }

    // ---- as a stream ----

    /** The tokens so far; all but the last are settled, since nothing is added to them. */
    int tokens() {
        return choices.getFirst().pieces().size();
    }

    /** The token before the last one. */
    void writeSettled(JsonWriter json) {
        List<Piece> pieces = choices.getFirst().pieces();
        event(json, pieces.size() - 1, pieces.get(pieces.size() - 2));
        json.nullField("generated_text").nullField("details").endObject();
    }

    /** The last token, with the whole text and how it ended. */
    void writeLast(JsonWriter json) {
        AnswerTokens answer = choices.getFirst();
        event(json, answer.pieces().size(), answer.pieces().getLast());
        json.field("generated_text", shape.lead() + answer.text());
        if (shape.hasDetails()) {
            end(json.object("details"), answer)
                    .field("input_length", promptTokens)
                    .endObject();
        } else {
            json.nullField("details");
        }
        json.endObject();
    }

    private void event(JsonWriter json, int index, Piece piece) {
        json.object().field("index", index);
        token(json.object("token"), piece);
        if (shape.topTokens() > 0) {
            likeliest(json.array("top_tokens"), piece);
        }
    }

    // ---- of both ----

    private JsonWriter end(JsonWriter json, AnswerTokens answer) {
        json.field("finish_reason", answer.finishReason())
                .field("generated_tokens", answer.pieces().size());
        if (shape.seed().isPresent()) {
            return json.field("seed", shape.seed().getAsLong());
        }
        return json.nullField("seed");
    }

    private void token(JsonWriter json, Piece piece) {
        token(json, piece.id(), piece.text(), piece.logprob());
    }

    private void likeliest(JsonWriter json, Piece piece) {
        for (TokenLogprob each : piece.logprobs().subList(1, piece.logprobs().size())) {
            token(json.object(), each.id(), each.text(), each.logprob());
        }
        json.endArray();
    }

    private void token(JsonWriter json, int id, String text, float logprob) {
        json.field("id", id)
                .field("text", text)
                .field("logprob", Logprobs.bounded(logprob))
                .field("special", tokenizer.hasToken(id) && tokenizer.isSpecial(id))
                .endObject();
    }
}
