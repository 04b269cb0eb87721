package roselle.server.llamacpp;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
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
import roselle.api.Usage;
import roselle.server.answer.Answer;
import roselle.server.answer.Answers;
import roselle.server.answer.Answers.AdmittedRequest;
import roselle.server.answer.Logprobs;
import roselle.server.http.EventStream;
import roselle.server.http.Exchange;
import roselle.server.http.JsonFields;
import roselle.server.http.JsonWriter;
import roselle.server.llamacpp.CompletionReader.Call;

/** {@code /completion} and {@code /infill}, whole or as a stream whose last event is like the whole without its text. */
final class CompletionHandler {
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double MILLIS = 1000; // of a second

    private final Answers answers;

    CompletionHandler(Answers answers) {
        this.answers = answers;
    }

    void complete(Exchange exchange) throws IOException {
        try (var admitted = answers.admit(exchange)) {
            answer(exchange, admitted, CompletionReader::continued);
        }
    }

    void infill(Exchange exchange) throws IOException {
        try (var admitted = answers.admit(exchange)) {
            answer(exchange, admitted, new InfillSource(admitted));
        }
    }

    private static void answer(Exchange exchange, AdmittedRequest admitted, CompletionReader.Source source)
            throws IOException {
        JsonFields fields = exchange.json();
        admitted.streaming(fields.bool("stream", false));
        Call call = new CompletionReader(admitted.models()).read(fields, source);
        try (Answer answer = admitted.submitWithinContext(call.model(), call.request())) {
            var completion = new Completion(call, answer.promptTokens());
            if (call.streams()) {
                stream(answer, completion, exchange.stream());
            } else {
                while (answer.hasNext()) {
                    completion.add(answer.next());
                }
                exchange.sendJson(200, completion.writeLast(new JsonWriter()));
            }
        }
    }

    private static void stream(Answer answer, Completion completion, EventStream events) throws IOException {
        while (answer.hasNext()) {
            GenerationEvent event = answer.next();
            completion.add(event);
            if (event instanceof TokenGenerated || (event instanceof ChoiceEnded && completion.hasMore())) {
                completion.write(events.event());
                events.send();
            }
        }
        completion.writeLast(events.event());
        events.finish();
    }

    /** A completion in the making. */
    private static final class Completion {
        private final Call call;
        private final int promptTokens;
        private final StringBuilder text = new StringBuilder();
        private final List<Integer> ids = new ArrayList<>();
        private final List<List<TokenLogprob>> probabilities = new ArrayList<>();
        private int tokens;
        private FinishReason reason = FinishReason.CANCELLED;
        private String match = "";
        private Usage usage = new Usage(0, 0, 0, 0, 0, 0, 0);

        Completion(Call call, int promptTokens) {
            this.call = call;
            this.promptTokens = promptTokens;
        }

        void add(GenerationEvent event) {
            switch (event) {
                case TokenGenerated token -> {
                    tokens++;
                    text.append(token.text());
                    ids.add(token.id());
                    if (!token.logprobs().isEmpty()) {
                        probabilities.add(token.logprobs());
                    }
                }
                case ChoiceEnded end -> {
                    text.append(end.text());
                    reason = end.reason();
                    match = end.match();
                }
                case Finished finished -> usage = finished.usage();
                case Reasoning _, ToolCallStarted _, ToolCallDelta _, ToolCall _ -> {} // of chats alone
                case PromptScored _, Failed _ -> {} // neither asked for nor handed out
            }
        }

        boolean hasMore() {
            return !text.isEmpty();
        }

        /** What came since the last event. */
        void write(JsonWriter json) {
            open(json, false);
            json.field("tokens_predicted", tokens).field("tokens_evaluated", promptTokens);
            probabilities(json);
            json.endObject();
            text.setLength(0);
            ids.clear();
            probabilities.clear();
        }

        /** What no event has told, and how it ended. */
        JsonWriter writeLast(JsonWriter json) {
            open(json, true);
            json.field("model", call.model().name())
                    .field("tokens_predicted", usage.completionTokens())
                    .field("tokens_evaluated", usage.promptTokens())
                    .field("tokens_cached", usage.cachedTokens())
                    .field("truncated", false)
                    .field("stop_type", stopType())
                    .field("stopping_word", match);
            probabilities(json);
            timings(json.object("timings"));
            return json.endObject();
        }

        private void open(JsonWriter json, boolean isLast) {
            json.object().field("index", 0).field("content", text.toString());
            json.array("tokens");
            if (call.tellsTokens() || call.streams()) {
                ids.forEach(json::value);
            }
            json.endArray().field("id_slot", -1).field("stop", isLast);
        }

        private String stopType() {
            return switch (reason) {
                case LENGTH -> "limit";
                case STOP -> match.isEmpty() ? "eos" : "word";
                case CANCELLED -> "none";
            };
        }

        private void probabilities(JsonWriter json) {
            if (!call.hasProbabilities()) {
                return;
            }
            json.array("completion_probabilities");
            for (List<TokenLogprob> position : probabilities) {
                token(json.object(), position.getFirst()).array("top_logprobs");
                for (TokenLogprob top : position.subList(1, position.size())) {
                    token(json.object(), top).endObject();
                }
                json.endArray().endObject();
            }
            json.endArray();
        }

        private static JsonWriter token(JsonWriter json, TokenLogprob token) {
            json.field("id", token.id())
                    .field("token", token.text())
                    .field("logprob", Logprobs.bounded(token.logprob()))
                    .array("bytes");
            for (byte unit : token.text().getBytes(StandardCharsets.UTF_8)) {
                json.value(unit & 0xFF);
            }
            return json.endArray();
        }

        private void timings(JsonWriter json) {
            long first = usage.firstTokenNanos() == 0 ? usage.totalNanos() : usage.firstTokenNanos();
            double prompt = Math.max(0, first - usage.queueNanos()) / NANOS_PER_MILLI;
            double predicted = (usage.totalNanos() - first) / NANOS_PER_MILLI;
            int read = usage.promptTokens() - usage.cachedTokens();
            int written = usage.completionTokens();
            json.field("cache_n", usage.cachedTokens())
                    .field("prompt_n", read)
                    .field("prompt_ms", prompt)
                    .field("prompt_per_token_ms", quotient(prompt, read))
                    .field("prompt_per_second", quotient(MILLIS * read, prompt))
                    .field("predicted_n", written)
                    .field("predicted_ms", predicted)
                    .field("predicted_per_token_ms", quotient(predicted, written))
                    .field("predicted_per_second", quotient(MILLIS * written, predicted))
                    .endObject();
        }

        /** 0 where there is nothing to divide by, which JSON has no number for. */
        private static double quotient(double value, double by) {
            return by == 0 ? 0 : value / by;
        }
    }
}
