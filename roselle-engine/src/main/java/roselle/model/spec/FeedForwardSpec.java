package roselle.model.spec;

import roselle.backend.operation.Activation;
import roselle.backend.operation.Gate;
import roselle.backend.operation.Router;

/** The feed-forward half of a layer. */
public sealed interface FeedForwardSpec {
    /** Nothing: the layer is attention alone, or what stands in its place. */
    record None() implements FeedForwardSpec {}

    /** {@code down(activation(up(x)))}. */
    record Plain(int size, Activation activation, boolean bias) implements FeedForwardSpec {}

    /**
     * {@code down(gate(gate(x), up(x)))} (Shazeer, 2020).
     *
     * @param bias whether gate and up have one
     * @param downBias whether down has one
     */
    record Gated(int size, Gate gate, boolean bias, boolean downBias) implements FeedForwardSpec {
        /** With biases everywhere or nowhere. */
        public Gated(int size, Gate gate, boolean bias) {
            this(size, gate, bias, bias);
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
            boolean sharedGate)
            implements FeedForwardSpec {
        public Experts {
            Router.requireChoice(experts, chosen, groups, chosenGroups);
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
                    sharedGate);
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
                    gated);
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
