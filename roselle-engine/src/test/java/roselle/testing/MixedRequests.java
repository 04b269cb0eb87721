package roselle.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import roselle.api.GenerationEvent.ChoiceEnded;
import roselle.api.GenerationEvent.Failed;
import roselle.api.GenerationEvent.Finished;
import roselle.api.GenerationEvent.PromptScored;
import roselle.api.GenerationEvent.Reasoning;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.GenerationEvent.ToolCall;
import roselle.api.GenerationEvent.ToolCallDelta;
import roselle.api.GenerationEvent.ToolCallStarted;
import roselle.api.GenerationRequest;
import roselle.api.TokenLogprob;
import roselle.engine.Engine;
import roselle.engine.Generation;

/**
 * Requests of all kinds at the same time: greedy and random, with stop tokens that some meet, of one token or many, with what
 * only the host can do, and what each was told in the end.
 */
public final class MixedRequests {
    private static final long SEED = 20_261_121;
    private static final int REQUESTS = 32;
    private static final int VOCABULARY = 300;

    private MixedRequests() {}

    /** What each request was told: ids, bits of log-probabilities, reasons and usage, but neither times nor cached tokens. */
    public static List<String> answers(Engine engine) {
        return answers(engine, () -> {});
    }

    /** The same, telling when all are submitted and none was read. */
    public static List<String> answers(Engine engine, Runnable whenSubmitted) {
        var generations = new ArrayList<Generation>();
        for (int number = 0; number < REQUESTS; number++) {
            generations.add(engine.submit(request(number)));
        }
        whenSubmitted.run();
        var answers = new ArrayList<String>();
        for (Generation generation : generations) {
            answers.add(answer(generation));
        }
        return answers;
    }

    private static GenerationRequest request(int number) {
        var random = new Random(SEED + number);
        int[] prompt = random.ints(1 + random.nextInt(24), 3, VOCABULARY).toArray();
        var builder = GenerationRequest.builder()
                .tokens(prompt)
                .seed(number)
                .temperature(number % 3 == 0 ? 0 : 1)
                .topP(number % 4 == 1 ? 0.9 : 1)
                .topK(number % 5 == 2 ? 40 : 0)
                .maxTokens((number % 8 == 5 ? 5 : 1) + random.nextInt(30))
                .ignoreEos(true);
        if (number % 2 == 0) {
            builder.logprobs(number % 5);
        }
        if (number % 4 != 3) {
            Set<Integer> stops = new java.util.TreeSet<>();
            random.ints(40, 3, VOCABULARY).forEach(stops::add); // one token of eight or so
            builder.stopTokenIds(stops);
        }
        if (number % 8 == 5) {
            builder.minTokens(4);
        }
        if (number % 16 == 7) {
            builder.repetitionPenalty(1.2);
        }
        if (number % 16 == 2) {
            builder.frequencyPenalty(0.7).presencePenalty(0.2);
        }
        if (number % 16 == 10) {
            builder.typicalP(0.8).temperature(1); // which the host samples
        }
        if (number % 16 == 11) {
            builder.choices(3);
        }
        return builder.build();
    }

    private static String answer(Generation generation) {
        Map<Integer, StringBuilder> choices = new TreeMap<>(); // whose tokens may come in any order
        String end = "";
        try (generation) {
            for (var event : generation) {
                switch (event) {
                    case TokenGenerated token ->
                        choices.computeIfAbsent(token.choice(), choice -> new StringBuilder())
                                .append(' ')
                                .append(token.id())
                                .append(bits(token.logprobs()));
                    case Finished finished ->
                        end = finished.reasons() + " " + finished.usage().promptTokens() + " "
                                + finished.usage().completionTokens();
                    case Failed failed -> end = failed.message();
                    case ChoiceEnded _,
                            Reasoning _,
                            ToolCallStarted _,
                            ToolCallDelta _,
                            ToolCall _,
                            PromptScored _ -> {}
                }
            }
        }
        return choices + " " + end;
    }

    private static String bits(List<TokenLogprob> logprobs) {
        var bits = new StringBuilder();
        for (TokenLogprob each : logprobs) {
            bits.append(':')
                    .append(each.id())
                    .append('=')
                    .append(Integer.toHexString(Float.floatToRawIntBits(each.logprob())));
        }
        return bits.toString();
    }
}
