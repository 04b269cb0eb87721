package roselle.server.kserve;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;
import roselle.api.FinishReason;
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

/** What was generated and not told yet, as the elements of output tensors. */
final class Generated {
    private final int promptTokens;
    private final boolean tellsLogprobs;
    private final List<Choice> choices;
    private long queueNanos;

    /** One answer; what was told of it is forgotten, but for the sum. */
    private static final class Choice {
        private final StringBuilder text;
        private final List<List<TokenLogprob>> scores = new ArrayList<>();
        private int tokens;
        private double sum;
        private String reason = "None"; // vLLM's word while there is none

        Choice(String lead) {
            text = new StringBuilder(lead);
        }

        void add(TokenGenerated token) {
            text.append(token.text());
            tokens++;
            if (!token.logprobs().isEmpty()) {
                scores.add(token.logprobs());
                sum += token.logprobs().getFirst().logprob();
            }
        }

        void end(ChoiceEnded end) {
            text.append(end.text());
            reason = end.reason() == FinishReason.STOP ? "stop" : "length";
        }

        void forget() {
            text.setLength(0);
            scores.clear();
            tokens = 0;
        }
    }

    Generated(GenerateCall call, int promptTokens) {
        this.promptTokens = promptTokens;
        tellsLogprobs = call.form().tellsLogprobs();
        choices = Stream.generate(() -> new Choice(call.form().lead()))
                .limit(call.request().output().choices())
                .toList();
    }

    /** Adds what an event says; true if there is something new to tell. */
    boolean add(GenerationEvent event) {
        return switch (event) {
            case TokenGenerated token -> {
                choices.get(token.choice()).add(token);
                yield true;
            }
            case ChoiceEnded end -> {
                choices.get(end.choice()).end(end);
                yield true;
            }
            case Finished finished -> {
                queueNanos = finished.usage().queueNanos();
                yield false;
            }
            case PromptScored _, Reasoning _, ToolCallStarted _, ToolCallDelta _, ToolCall _, Failed _ ->
                false; // not asked for, of chats alone, not handed out
        };
    }

    /** How long it waited for its turn; known at the end. */
    long queueNanos() {
        return queueNanos;
    }

    void forgetWhatWasTold() {
        choices.forEach(Choice::forget);
    }

    TensorData data(Output output) {
        return switch (output) {
            case TEXT_OUTPUT -> texts(choice -> choice.text.toString());
            case FINISH_REASON -> texts(choice -> choice.reason);
            case LOGPROBS -> texts(choice -> tellsLogprobs ? scores(choice.scores) : "null");
            case CUMULATIVE_LOGPROB ->
                new TensorData.Floats(choices.stream()
                        .map(choice -> Logprobs.bounded((float) choice.sum))
                        .toList());
            case NUM_INPUT_TOKENS -> new TensorData.Integers(List.of(promptTokens));
            case NUM_OUTPUT_TOKENS ->
                new TensorData.Integers(
                        choices.stream().map(choice -> choice.tokens).toList());
        };
    }

    private TensorData texts(Function<Choice, String> text) {
        return new TensorData.Texts(choices.stream().map(text).toList());
    }

    /** As JSON: of each token the likeliest ones and itself, by id. */
    private static String scores(List<List<TokenLogprob>> tokens) {
        var json = new JsonWriter().array();
        for (List<TokenLogprob> token : tokens) {
            TokenLogprob chosen = token.getFirst();
            List<TokenLogprob> likeliest = token.subList(1, token.size());
            json.object();
            if (likeliest.stream().noneMatch(each -> each.id() == chosen.id())) {
                score(json, chosen).nullField("rank").endObject();
            }
            for (int rank = 1; rank <= likeliest.size(); rank++) {
                score(json, likeliest.get(rank - 1)).field("rank", rank).endObject();
            }
            json.endObject();
        }
        return json.endArray().toString();
    }

    private static JsonWriter score(JsonWriter json, TokenLogprob token) {
        return json.object(Integer.toString(token.id()))
                .field("logprob", Logprobs.bounded(token.logprob()))
                .field("decoded_token", token.text());
    }
}
