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
 * @param shared what an expert behind the others weighs, which is the last choice of every row; null for none
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
        float nearness,
        @Nullable Shared shared) {
    /**
     * The weight of a shared expert, number {@code experts} of a stack.
     *
     * @param gated whether the sigmoid of the number behind the logits multiplies it
     */
    public record Shared(float weight, boolean gated) {}

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

    /** A router that chooses each of its experts. */
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
            @Nullable Buffer ofTokens,
            float nearness) {
        this(
                scoring,
                experts,
                chosen,
                normalizes,
                groups,
                chosenGroups,
                correction,
                scale,
                expertScales,
                ofTokens,
                nearness,
                null);
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

    /** The same with an expert that every row has. */
    public Router with(@Nullable Shared other) {
        return new Router(
                scoring,
                experts,
                chosen,
                normalizes,
                groups,
                chosenGroups,
                correction,
                scale,
                expertScales,
                ofTokens,
                nearness,
                other);
    }

    /** Experts of a row with the one that every row has. */
    public int choices() {
        return shared == null ? chosen : chosen + 1;
    }

    /** Experts of a stack: those that scores choose from, and the one that every row has. */
    public int stacked() {
        return shared == null ? experts : experts + 1;
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
