package roselle.sampling;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import roselle.api.GenerationRequest;
import roselle.api.OutputOptions;
import roselle.api.Prompt;
import roselle.api.SamplingParameters;
import roselle.api.SchedulingOptions;
import roselle.api.StopConditions;
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
        var sampling = new SamplingParameters(
                temperature, topK, topP, minP, typicalP, repetition, presence, frequency, bias, OptionalLong.empty());
        var stop = new StopConditions(1 << 20, minTokens, List.of(), stopIds, false);
        boolean reports = topLogprobs != SamplingRows.NO_LOGPROBS;
        var output = new OutputOptions(1, reports, Math.max(0, topLogprobs), false);
        var request = new GenerationRequest(
                Prompt.Tokens.of(0), sampling, stop, output, new SchedulingOptions(0, "", "", Duration.ZERO));
        return SamplingPlan.of(request, new int[0], vocabulary, seed, 0);
    }
}
