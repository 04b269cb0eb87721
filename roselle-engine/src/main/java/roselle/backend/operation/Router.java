package roselle.backend.operation;

import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Buffer;

/**
 * How a token's experts follow from its router logits.
 *
 * <p>Experts are chosen by {@code score + correction}; with groups, only from the {@code chosenGroups} groups whose two best
 * such sums add up to most (DeepSeek-V3). Ties go to the lower index. Weights are the scores without correction.
 *
 * @param experts number of logits
 * @param chosen experts of a token
 * @param normalizes whether the chosen scores are divided by their sum
 * @param groups equal, consecutive groups of experts; 1 without groups
 * @param correction F32 per expert; null for none
 * @param scale multiplies each weight at the end
 * @param expertScales F32 per expert, multiplies its weight too; null for none
 * @param ofTokens F32 {@code [tokens, chosen]}: the experts of each token, which no score chooses (DeepSeek V4); null where scores do
 * @param nearness how far below the best logit one may lie that counts beside it, as a part of the larger of its own size and the best;
 *     of {@code SOFTMAX_OF_NEAR} alone
 */
public record Router(
        Scoring scoring,
        int experts,
        int chosen,
        boolean normalizes,
        int groups,
        int chosenGroups,
        @Nullable Buffer correction,
        float scale,
        @Nullable Buffer expertScales,
        @Nullable Buffer ofTokens,
        float nearness) {
    /** How a logit becomes a score. */
    public enum Scoring {
        SOFTMAX,
        SIGMOID,
        /** The root of the softplus. */
        ROOT_OF_SOFTPLUS,
        /** The logit chooses; the softmax is over the chosen ones alone. */
        SOFTMAX_OF_CHOSEN,
        /** The logit chooses; a weight is that of the softmax over those that are near it and not chosen before (SparseMixer; Liu, 2024). */
        SOFTMAX_OF_NEAR
    }

    /** A router that looks at all logits, or at those chosen. */
    public Router(
            Scoring scoring,
            int experts,
            int chosen,
            boolean normalizes,
            int groups,
            int chosenGroups,
            @Nullable Buffer correction,
            float scale,
            @Nullable Buffer expertScales,
            @Nullable Buffer ofTokens) {
        this(scoring, experts, chosen, normalizes, groups, chosenGroups, correction, scale, expertScales, ofTokens, 0f);
    }

    /** A router whose scores choose. */
    public Router(
            Scoring scoring,
            int experts,
            int chosen,
            boolean normalizes,
            int groups,
            int chosenGroups,
            @Nullable Buffer correction,
            float scale,
            @Nullable Buffer expertScales) {
        this(scoring, experts, chosen, normalizes, groups, chosenGroups, correction, scale, expertScales, null);
    }

    /** A router that weighs all experts alike. */
    public Router(
            Scoring scoring,
            int experts,
            int chosen,
            boolean normalizes,
            int groups,
            int chosenGroups,
            @Nullable Buffer correction,
            float scale) {
        this(scoring, experts, chosen, normalizes, groups, chosenGroups, correction, scale, null);
    }

    public Router {
        requireChoice(experts, chosen, groups, chosenGroups);
    }

    /** Fails where so many experts cannot be chosen so. */
    public static void requireChoice(int experts, int chosen, int groups, int chosenGroups) {
        if (experts < 1 || chosen < 1 || chosen > experts || groups < 1 || experts % groups != 0) {
            throw new IllegalArgumentException(
                    "cannot choose " + chosen + " of " + experts + " experts in " + groups + " groups");
        }
        if (chosenGroups < 1 || chosenGroups > groups || chosen > experts / groups * chosenGroups) {
            throw new IllegalArgumentException("cannot choose " + chosen + " experts from " + chosenGroups + " of "
                    + groups + " groups of " + experts / groups);
        }
    }
}
