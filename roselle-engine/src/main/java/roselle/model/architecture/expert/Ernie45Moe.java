package roselle.model.architecture.expert;

import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.backend.operation.Gate;
import roselle.backend.operation.Router;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.FeedForwardSpec;
import roselle.model.spec.OutputSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;

/** ERNIE 4.5 with experts: chosen by a softmax with a correction, with shared ones, in the layers behind the first few. */
public final class Ernie45Moe implements Architecture {
    private static final int MOST = 1 << 24;

    @Override
    public Set<String> modelTypes() {
        return Set.of("ernie4_5_moe");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("ernie4_5-moe");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        config.requireOff("use_bias");
        config.requireOn("moe_use_aux_free");
        config.pass("moe_norm_min", "moe_capacity", "moe_gate");
        builder.rmsNorm(config, 0f);
        builder.rope(config, 500_000, true);
        builder.gated(config, "hidden_act", Activation.SILU, false);
        FeedForwardSpec.Experts experts = experts(config);
        int first = config.sizeOrNone("moe_layer_start_index", "leading_dense_block_count", MOST);
        int last = config.integer("moe_layer_end_index", "", -1);
        int interval = config.size("moe_layer_interval", "interleave_moe_layer_step", MOST, 1);
        for (int layer = first; layer < builder.feedForwards.length; layer++) {
            if ((layer + 1) % interval == 0 && (last < 0 || layer <= last)) {
                builder.feedForwards[layer] = experts;
            }
        }
        builder.output = new OutputSpec(SpecBuilder.isTied(config, true), false, 1f, 0f);
        return new Blueprint(builder.spec(), Names.of(config, NAMES));
    }

    private static FeedForwardSpec.Experts experts(ModelConfig config) {
        int experts = config.size("moe_num_experts", "expert_count", MOST);
        int chosen = config.size("moe_k", "expert_used_count", experts);
        int size = config.size("moe_intermediate_size", "expert_feed_forward_length", MOST);
        int shared = config.sizeOrNone("moe_num_shared_experts", "expert_shared_count", MOST / size);
        config.has("", "expert_shared_feed_forward_length"); // their product, for the models that there are
        Gate gate = Gate.of(config.activation("hidden_act", Activation.SILU));
        return new FeedForwardSpec.Experts(
                experts, chosen, size, gate, Router.Scoring.SOFTMAX, true, 1, 1, true, 1f, false, shared * size, false);
    }

    private static final Map<Part, String> NAMES = Map.of(
            Part.ROUTER_CORRECTION, Names.layer("mlp.moe_statics.e_score_correction_bias"),
            Part.SHARED_GATE, Names.layer("mlp.shared_experts.gate_proj"),
            Part.SHARED_UP, Names.layer("mlp.shared_experts.up_proj"),
            Part.SHARED_DOWN, Names.layer("mlp.shared_experts.down_proj"));
}
