package roselle.model.config;

import roselle.api.CheckpointException;
import roselle.backend.operation.Activation;
import roselle.backend.operation.Gate;
import roselle.backend.operation.Router;
import roselle.model.spec.FeedForwardSpec;

/** Reads how many experts there are and how they are chosen. */
public final class Mixture {
    private static final int MAX_EXPERTS = 100_000;

    private Mixture() {}

    /** Experts with a softmax over all logits; the weights of the chosen ones are divided by their sum or not. */
    public static FeedForwardSpec.Experts of(ModelConfig config, int size, boolean normalizes) {
        String field = config.has("num_experts", "") ? "num_experts" : "num_local_experts";
        int experts = config.size(field, "expert_count", MAX_EXPERTS);
        return of(config, size, normalizes, experts, chosen(config, experts));
    }

    /** The same with so many, some of them chosen. */
    public static FeedForwardSpec.Experts of(
            ModelConfig config, int size, boolean normalizes, int experts, int chosen) {
        Gate gate = Gate.of(config.activation("hidden_act", Activation.SILU));
        return new FeedForwardSpec.Experts(
                experts, chosen, size, gate, Router.Scoring.SOFTMAX, normalizes, 1, 1, false, 1f, false, 0, false);
    }

    public static int chosen(ModelConfig config, int experts) {
        String field = config.has("num_experts_per_token", "") ? "num_experts_per_token" : "num_experts_per_tok";
        int chosen = config.size(field, "expert_used_count", MAX_EXPERTS);
        if (chosen > experts) {
            throw new CheckpointException(
                    config.metadata().origin() + ": " + chosen + " experts per token of " + experts + " in all");
        }
        return chosen;
    }
}
