package roselle.api;

import java.util.Map;
import java.util.OptionalLong;

/**
 * How a token is drawn from the logits; the order is penalties, bias, temperature, top-k, top-p, min-p, typical.
 *
 * @param temperature 0 takes the likeliest token; at most 100
 * @param topK keep the k likeliest tokens; 0 keeps all
 * @param topP keep the smallest set of likeliest tokens whose probabilities reach this sum, in (0, 1]
 * @param minP drop tokens less likely than this share of the likeliest, in [0, 1]
 * @param typicalP keep the most typical tokens up to this sum of probabilities (arXiv 2202.00666), in (0, 1]; 1 is off
 * @param repetitionPenalty divide positive and multiply negative logits of tokens seen in prompt or output; 1 is off
 * @param presencePenalty subtract from the logits of tokens seen in the output, in [−2, 2]
 * @param frequencyPenalty subtract for each time a token was seen in the output, in [−2, 2]
 * @param logitBias added to the logits of these token ids, each in [−100, 100]
 * @param penaltyWindow penalties see so many of the latest tokens of prompt and answer, each of them those of which it is said above;
 *     {@link #ALL_TOKENS} for all
 * @param penalizesPrompt whether the penalties for presence and frequency see the prompt, too, as that for repetition does
 * @param seed the draw at a position depends on the seed and the position only; without one the engine picks one
 */
public record SamplingParameters(
        double temperature,
        int topK,
        double topP,
        double minP,
        double typicalP,
        double repetitionPenalty,
        double presencePenalty,
        double frequencyPenalty,
        Map<Integer, Float> logitBias,
        int penaltyWindow,
        boolean penalizesPrompt,
        OptionalLong seed) {
    /** A window of penalties that has no end. */
    public static final int ALL_TOKENS = Integer.MAX_VALUE;

    /** Draws from the model's own distribution. */
    public static final SamplingParameters DEFAULT =
            new SamplingParameters(1, 0, 1, 0, 1, 1, 0, 0, Map.of(), OptionalLong.empty());

    /** Takes the likeliest token each time. */
    public static final SamplingParameters GREEDY =
            new SamplingParameters(0, 0, 1, 0, 1, 1, 0, 0, Map.of(), OptionalLong.empty());

    private static final double SMALLEST = 1e-6;

    /** Parameters whose penalties see all tokens, those for presence and frequency the answer's alone. */
    public SamplingParameters(
            double temperature,
            int topK,
            double topP,
            double minP,
            double typicalP,
            double repetitionPenalty,
            double presencePenalty,
            double frequencyPenalty,
            Map<Integer, Float> logitBias,
            OptionalLong seed) {
        this(
                temperature,
                topK,
                topP,
                minP,
                typicalP,
                repetitionPenalty,
                presencePenalty,
                frequencyPenalty,
                logitBias,
                ALL_TOKENS,
                false,
                seed);
    }

    public SamplingParameters {
        Check.between("temperature", temperature, 0, 100);
        Check.atLeast("top_k", topK, 0);
        Check.between("top_p", topP, SMALLEST, 1);
        Check.between("min_p", minP, 0, 1);
        Check.between("typical_p", typicalP, SMALLEST, 1);
        Check.between("repetition_penalty", repetitionPenalty, 0.01, 100);
        Check.between("presence_penalty", presencePenalty, -2, 2);
        Check.between("frequency_penalty", frequencyPenalty, -2, 2);
        Check.atLeast("penalty_window", penaltyWindow, 1);
        Check.atMost("logit_bias", "the number of logit_bias entries", logitBias.size(), 4096);
        logitBias.forEach((id, bias) -> {
            Check.atLeast("logit_bias", "a token id of logit_bias", id, 0);
            Check.between("logit_bias", "logit_bias of token " + id, bias, -100, 100);
        });
        logitBias = Map.copyOf(logitBias);
    }

    public boolean isGreedy() {
        return temperature == 0;
    }
}
