package roselle.model.spec;

import org.jspecify.annotations.Nullable;
import roselle.backend.operation.Activation;
import roselle.backend.operation.Gate;
import roselle.backend.operation.Router;
import roselle.backend.operation.Xielu;

/** The feed-forward half of a layer. */
public sealed interface FeedForwardSpec {
    /** Nothing: the layer is attention alone, or what stands in its place. */
    record None() implements FeedForwardSpec {}

    /**
     * {@code down(activation(up(x)))}.
     *
     * @param xielu a trained activation in the place of the other; null for none
     */
    record Plain(
            int size,
            Activation activation,
            boolean bias,
            @Nullable Xielu xielu) implements FeedForwardSpec {
        /** With an activation that is not trained. */
        public Plain(int size, Activation activation, boolean bias) {
            this(size, activation, bias, null);
        }

        /** With a trained activation and no biases. */
        public Plain(int size, Xielu xielu) {
            this(size, Activation.NONE, false, xielu);
        }
    }

    /**
     * {@code down(gate(gate(x), up(x)))} (Shazeer, 2020).
     *
     * @param bias whether gate and up have one
     * @param downBias whether down has one
     * @param deviations how far above their mean, in standard deviations, gates must lie to count; {@link #ALL} for all of them
     * @param gateScale multiplies the gates before their activation
     * @param scale multiplies what down gives
     */
    record Gated(int size, Gate gate, boolean bias, boolean downBias, float deviations, float gateScale, float scale)
            implements FeedForwardSpec {
        /** All gates count. */
        public static final float ALL = Float.NEGATIVE_INFINITY;

        /** With nothing multiplied. */
        public Gated(int size, Gate gate, boolean bias, boolean downBias, float deviations) {
            this(size, gate, bias, downBias, deviations, 1f, 1f);
        }

        /** This multiplied; it has no biases. */
        public Gated with(float ofGates, float ofResult) {
            return new Gated(size, gate, false, false, deviations, ofGates, ofResult);
        }

        /** Whether gates that are not far above their mean are zero. */
        public boolean isSparse() {
            return deviations != ALL;
        }

        /** With all gates. */
        public Gated(int size, Gate gate, boolean bias, boolean downBias) {
            this(size, gate, bias, downBias, ALL);
        }

        /** With biases everywhere or nowhere. */
        public Gated(int size, Gate gate, boolean bias) {
            this(size, gate, bias, bias, ALL);
        }
    }

    /**
     * Gated experts, some of them chosen for each token, and maybe one that all share.
     *
     * @param size inner numbers of an expert
     * @param normalizes whether the chosen scores are divided by their sum
     * @param groups groups of experts that are chosen first; 1 for none
     * @param correction whether the choice, but not the weight, has a correction per expert
     * @param scale multiplies the weights
     * @param bias whether router and experts have one
     * @param sharedSize inner numbers of the shared expert; 0 for none
     * @param sharedGate whether the shared expert has a sigmoid gate
     * @param traits what few families have
     */
    record Experts(
            int experts,
            int chosen,
            int size,
            Gate gate,
            Router.Scoring scoring,
            boolean normalizes,
            int groups,
            int chosenGroups,
            boolean correction,
            float scale,
            boolean bias,
            int sharedSize,
            boolean sharedGate,
            Traits traits)
            implements FeedForwardSpec {
        /**
         * What few families have.
         *
         * @param weighsInputs whether the weight of the one expert of a token multiplies what it reads, not what it gives (Llama 4)
         * @param gated whether experts have gates; else they are {@code down(activation(up(x)))}, and so is the shared one
         * @param latent numbers that experts read and give in the place of the stream's, between two products that all share
         *     (Nemotron 3); 0 for those of the stream
         * @param ofTokens whether the experts of each token are given, and no score chooses them (DeepSeek V4)
         * @param sharedGating of the shared expert; null for that of the others
         * @param sharedScale multiplies what the shared expert gives
         * @param nearness how near the best logit one must lie to count beside it ({@link Router#nearness})
         */
        public record Traits(
                boolean weighsInputs,
                boolean gated,
                int latent,
                boolean ofTokens,
                @Nullable Gate sharedGating,
                float sharedScale,
                float nearness) {
            public static final Traits NONE = new Traits(false, true, 0);

            /** With experts that scores choose, and one gating for all. */
            public Traits(boolean weighsInputs, boolean gated, int latent) {
                this(weighsInputs, gated, latent, false, null, 1f, 0f);
            }

            /** These with another gating of the shared expert. */
            public Traits withSharedGating(Gate other) {
                return new Traits(weighsInputs, gated, latent, ofTokens, other, sharedScale, nearness);
            }

            /** These with a shared expert that is multiplied. */
            public Traits withSharedScale(float factor) {
                return new Traits(weighsInputs, gated, latent, ofTokens, sharedGating, factor, nearness);
            }

            /** These with experts that the token says, and no score. */
            public Traits withExpertsOfTokens() {
                return new Traits(weighsInputs, gated, latent, true, sharedGating, sharedScale, nearness);
            }

            /** These with logits that count as far as they are near the best. */
            public Traits withNearness(float part) {
                return new Traits(weighsInputs, gated, latent, ofTokens, sharedGating, sharedScale, part);
            }
        }

        /** Experts as most families have them. */
        public Experts(
                int experts,
                int chosen,
                int size,
                Gate gate,
                Router.Scoring scoring,
                boolean normalizes,
                int groups,
                int chosenGroups,
                boolean correction,
                float scale,
                boolean bias,
                int sharedSize,
                boolean sharedGate) {
            this(
                    experts,
                    chosen,
                    size,
                    gate,
                    scoring,
                    normalizes,
                    groups,
                    chosenGroups,
                    correction,
                    scale,
                    bias,
                    sharedSize,
                    sharedGate,
                    Traits.NONE);
        }

        public Experts {
            Router.requireChoice(experts, chosen, groups, chosenGroups);
            if (traits.weighsInputs() && (chosen != 1 || bias || traits.latent() != 0)) {
                throw new IllegalArgumentException(
                        "experts whose inputs are weighed are chosen one for a token and have no biases");
            }
            if (traits.sharedScale() != 1f && (sharedGate || !traits.gated())) {
                throw new IllegalArgumentException("a shared expert that is multiplied has gates, and none of its own");
            }
            if ((!traits.gated() || traits.latent() != 0) && (bias || sharedGate)) {
                throw new IllegalArgumentException("experts without gates or of other widths have no biases");
            }
        }

        /** Numbers that an expert reads and gives. */
        public int width(int stream) {
            return traits.latent() == 0 ? stream : traits.latent();
        }

        /** Rows of an expert's first matrix. */
        public int firstRows() {
            return traits.gated() ? 2 * size : size;
        }

        /** How the shared expert is gated. */
        public Gate sharedGating() {
            return traits.sharedGating() == null ? gate : traits.sharedGating();
        }

        /** These gated in another way. */
        public Experts with(Gate other) {
            return new Experts(
                    experts,
                    chosen,
                    size,
                    other,
                    scoring,
                    normalizes,
                    groups,
                    chosenGroups,
                    correction,
                    scale,
                    bias,
                    sharedSize,
                    sharedGate,
                    traits);
        }

        /** These with other traits. */
        public Experts with(Traits others) {
            return new Experts(
                    experts,
                    chosen,
                    size,
                    gate,
                    scoring,
                    normalizes,
                    groups,
                    chosenGroups,
                    correction,
                    scale,
                    bias,
                    sharedSize,
                    sharedGate,
                    others);
        }

        /** These chosen one behind the other, by logits alone. */
        public Experts withNearness(float part) {
            return new Experts(
                    experts,
                    chosen,
                    size,
                    gate,
                    Router.Scoring.SOFTMAX_OF_NEAR,
                    false,
                    1,
                    1,
                    false,
                    1f,
                    bias,
                    sharedSize,
                    sharedGate,
                    traits.withNearness(part));
        }

        /** These without a correction of the choice. */
        public Experts withoutCorrection() {
            return new Experts(
                    experts,
                    chosen,
                    size,
                    gate,
                    scoring,
                    normalizes,
                    groups,
                    chosenGroups,
                    false,
                    scale,
                    bias,
                    sharedSize,
                    sharedGate,
                    traits);
        }

        /** These with a sigmoid for each score, and maybe a correction of the choice. */
        public Experts withSigmoids(boolean corrected, float weightScale) {
            return new Experts(
                    experts,
                    chosen,
                    size,
                    gate,
                    Router.Scoring.SIGMOID,
                    normalizes,
                    groups,
                    chosenGroups,
                    corrected,
                    weightScale,
                    bias,
                    sharedSize,
                    sharedGate,
                    traits);
        }

        /** Whether the shared expert is as the others are, so that it can be one of a stack with them. */
        public boolean sharesAlike() {
            return sharedSize == size
                    && sharedGating().equals(gate)
                    && !bias
                    && !traits.weighsInputs()
                    && traits.gated()
                    && traits.latent() == 0;
        }

        /** Experts of a row at most, with the shared one where it is as the others are. */
        public int choices() {
            return sharesAlike() ? chosen + 1 : chosen;
        }

        /** These with an expert for every token. */
        public Experts withShared(int sharedInner, boolean gated) {
            return new Experts(
                    experts,
                    chosen,
                    size,
                    gate,
                    scoring,
                    normalizes,
                    groups,
                    chosenGroups,
                    correction,
                    scale,
                    bias,
                    sharedInner,
                    gated,
                    traits);
        }
    }

    /**
     * A dense feed-forward and experts beside it, which read the same stream through norms of their own, as their router does; what
     * each gives is normalised and added, and each expert has a number that multiplies its weight (Gemma 4).
     */
    record Beside(Gated dense, Experts experts) implements FeedForwardSpec {
        public Beside {
            if (dense.bias() || experts.bias() || experts.sharedSize() != 0) {
                throw new IllegalArgumentException(
                        "experts beside a dense feed-forward have no biases and share no expert");
            }
        }
    }
}
