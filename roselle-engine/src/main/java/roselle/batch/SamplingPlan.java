package roselle.batch;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;
import roselle.api.GenerationRequest;
import roselle.api.InvalidRequestException;
import roselle.api.InvalidRequestException.Reason;
import roselle.api.ResponseFormat;
import roselle.api.SamplingParameters;
import roselle.api.StopConditions;
import roselle.backend.step.SamplingRows;

/** A request's sampling parameters and stop tokens as plain numbers, resolved once against a vocabulary. */
public final class SamplingPlan {
    private static final long CHOICE_STEP = 0x9E3779B97F4A7C15L;

    private final SamplingParameters sampling;
    private final int[] biasIds; // ascending
    private final float[] biases;
    /** Token ids that end the sequence, ascending. */
    private final int[] stopIds;
    /** Token ids that would end a format's text and must not, because they end no sequence. */
    private final int[] neverIds;
    /** These, and those that must not come before {@link #minTokens}. */
    private final int[] earlyIds;

    public final int minTokens;
    private final long seed;
    /** Likeliest tokens to report beside the chosen one, or {@link SamplingRows#NO_LOGPROBS}. */
    public final int topLogprobs;

    /** Whether the rows of the prompt are wanted: for their tokens' log-probabilities, or for {@link #embedsPrompt}. */
    public final boolean scoresPrompt;
    /** Whether the prompt's hidden states are wanted. */
    public final boolean embedsPrompt;

    /** What is wanted of the prompt's rows. */
    private enum PromptRows {
        NOTHING,
        SCORES,
        STATES
    }

    private SamplingPlan(GenerationRequest request, int[] endIds, int vocabulary, long seed, PromptRows wanted) {
        sampling = request.sampling();
        biasIds = new int[sampling.logitBias().size()];
        biases = new float[biasIds.length];
        fillBiases(sampling.logitBias(), vocabulary);
        StopConditions stop = request.stop();
        stopIds = stopIds(stop.stopTokenIds(), stop.ignoreEos() ? new int[0] : endIds, vocabulary);
        boolean isFormatted = !(request.format() instanceof ResponseFormat.Text);
        neverIds = isFormatted && stop.ignoreEos() ? endIds : SamplingRows.NO_IDS;
        earlyIds = IntStream.concat(Arrays.stream(neverIds), Arrays.stream(stopIds))
                .distinct()
                .toArray();
        minTokens = stop.minTokens();
        this.seed = seed;
        topLogprobs = request.output().logprobs() ? request.output().topLogprobs() : SamplingRows.NO_LOGPROBS;
        scoresPrompt = wanted != PromptRows.NOTHING;
        embedsPrompt = wanted == PromptRows.STATES;
    }

    /**
     * Resolves a request's parameters.
     *
     * @param endIds the model's own end-of-text tokens
     * @param vocabulary token ids are below it
     * @param seed the request's, or one that the engine picked
     * @param choice which of the request's answers: each has random numbers of its own, choice 0 those of {@code seed} itself; the
     *     first one alone scores the prompt, which they have in common
     */
    public static SamplingPlan of(GenerationRequest request, int[] endIds, int vocabulary, long seed, int choice) {
        boolean scores = choice == 0 && request.output().promptLogprobs();
        PromptRows wanted = scores ? PromptRows.SCORES : PromptRows.NOTHING;
        return new SamplingPlan(request, endIds, vocabulary, seed + choice * CHOICE_STEP, wanted);
    }

    /** A plan for a request whose prompt's hidden states are wanted rather than its tokens. */
    public static SamplingPlan embedding(GenerationRequest request, int vocabulary) {
        return new SamplingPlan(request, new int[0], vocabulary, 0, PromptRows.STATES);
    }

    private void fillBiases(Map<Integer, Float> byId, int vocabulary) {
        int count = 0;
        for (var entry : new TreeMap<>(byId).entrySet()) {
            requireToken("logit_bias", entry.getKey(), vocabulary);
            biasIds[count] = entry.getKey();
            biases[count++] = entry.getValue();
        }
    }

    private static int[] stopIds(Set<Integer> asked, int[] endIds, int vocabulary) {
        int[] ids = Arrays.copyOf(endIds, endIds.length + asked.size());
        int count = endIds.length;
        for (int id : asked) {
            requireToken("stop_token_ids", id, vocabulary);
            ids[count++] = id;
        }
        return Arrays.stream(ids).distinct().sorted().toArray();
    }

    private static void requireToken(String field, int id, int vocabulary) {
        if (id < 0 || id >= vocabulary) {
            throw new InvalidRequestException(
                    Reason.OUT_OF_RANGE,
                    field,
                    field + " names token " + id + ", but the model's tokens are 0 to " + (vocabulary - 1));
        }
    }

    /** Whether this token ends the sequence. */
    public boolean isStop(int id) {
        return Arrays.binarySearch(stopIds, id) >= 0;
    }

    /**
     * Whether {@code token} may be taken without its logits where nothing else is allowed: where they are not wanted for themselves,
     * and the token is not forbidden for another reason.
     */
    boolean takesForced(int token, int generated) {
        if (topLogprobs != SamplingRows.NO_LOGPROBS) {
            return false;
        }
        for (int id : forbidden(generated)) {
            if (id == token) {
                return false;
            }
        }
        return true;
    }

    /** Whether a token depends on those before it beyond what the model makes of them. */
    public boolean hasPenalties() {
        return sampling.repetitionPenalty() != 1 || sampling.presencePenalty() != 0 || sampling.frequencyPenalty() != 0;
    }

    /**
     * Writes to a row how the token at {@code position} is to be sampled.
     *
     * @param ids the tokens before it, prompt first
     * @param promptLength of them
     */
    public void fill(SamplingRows rows, int row, int[] ids, int promptLength, int position) {
        rows.temperature[row] = sampling.temperature();
        rows.topK[row] = sampling.topK();
        rows.topP[row] = sampling.topP();
        rows.minP[row] = sampling.minP();
        rows.typicalP[row] = sampling.typicalP();
        rows.seed[row] = seed;
        rows.position[row] = position;
        rows.topLogprobs[row] = topLogprobs;
        rows.repetition[row] = (float) sampling.repetitionPenalty();
        rows.presence[row] = (float) sampling.presencePenalty();
        rows.frequency[row] = (float) sampling.frequencyPenalty();
        rows.penaltyWindow[row] = sampling.penaltyWindow();
        rows.penalizesPrompt[row] = sampling.penalizesPrompt();
        rows.history[row] = ids;
        rows.promptLength[row] = promptLength;
        rows.biasIds[row] = biasIds;
        rows.biases[row] = biases;
        rows.forbidden[row] = forbidden(position - promptLength);
    }

    /** The tokens that may not follow so many generated ones. */
    private int[] forbidden(int generated) {
        return generated < minTokens ? earlyIds : neverIds;
    }
}
