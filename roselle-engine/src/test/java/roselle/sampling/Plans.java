package roselle.sampling;

import java.util.Map;
import java.util.Set;
import roselle.api.GenerationRequest;
import roselle.api.OutputOptions;
import roselle.api.SamplingParameters;
import roselle.backend.step.SamplingRows;
import roselle.batch.SamplingPlan;

/** Sampling plans for tests, from parameters that a test changes one by one. */
final class Plans {
    double temperature = 1;
    int topK;
    double topP = 1;
    double minP;
    double typicalP = 1;
    double repetition = 1;
    double presence;
    double frequency;
    int penaltyWindow = SamplingParameters.ALL_TOKENS;
    boolean penalizesPrompt;
    Map<Integer, Float> bias = Map.of();
    Set<Integer> stopIds = Set.of();
    int minTokens;
    int topLogprobs = SamplingRows.NO_LOGPROBS;
    long seed = 1;

    static SamplingPlan greedy(int vocabulary) {
        var plans = new Plans();
        plans.temperature = 0;
        return plans.plan(vocabulary);
    }

    SamplingPlan plan(int vocabulary) {
        boolean reports = topLogprobs != SamplingRows.NO_LOGPROBS;
        var request = GenerationRequest.builder()
                .tokens(0)
                .temperature(temperature)
                .topK(topK)
                .topP(topP)
                .minP(minP)
                .typicalP(typicalP)
                .repetitionPenalty(repetition)
                .presencePenalty(presence)
                .frequencyPenalty(frequency)
                .penaltyWindow(penaltyWindow)
                .penalizesPrompt(penalizesPrompt)
                .logitBias(bias)
                .maxTokens(1 << 20)
                .minTokens(minTokens)
                .stopTokenIds(stopIds)
                .output(new OutputOptions(1, reports, Math.max(0, topLogprobs), false))
                .build();
        return SamplingPlan.of(request, new int[0], vocabulary, seed, 0);
    }
}
