package roselle.model.architecture.expert;

import java.util.List;
import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.backend.operation.Gate;
import roselle.backend.operation.Router;
import roselle.model.config.Architecture;
import roselle.model.config.Mixture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.BlockSpec;
import roselle.model.spec.FeedForwardSpec;
import roselle.model.spec.OutputSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;

/**
 * Command A's mixtures: Command A with experts beside attention, whose sum with a shared one is halved; the first layers are dense,
 * and may have positions where they see everything.
 */
public final class Cohere2Moe implements Architecture {
    private static final int MOST = 1 << 24;

    @Override
    public Set<String> modelTypes() {
        return Set.of("cohere2_moe");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("cohere2moe");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        if (config.has("rms_norm_eps", "attention.layer_norm_rms_epsilon")) {
            builder.rmsNorm(config, 0f);
            config.pass("layer_norm_eps");
        } else {
            builder.layerNorm(config, "layer_norm_eps", false);
        }
        builder.block = new BlockSpec(true, false, true, true, 1f);
        builder.rope(config, 10_000, true);
        builder.projectionBias = config.flag("attention_bias", "", false);
        builder.attentionOutputBias = builder.projectionBias;
        boolean[] dense = dense(config, builder.feedForwards.length);
        feedForwards(config, builder, dense);
        windows(config, builder, dense);
        float scale = (float) config.number("logit_scale", "logit_scale", 0.0625);
        builder.output = new OutputSpec(SpecBuilder.isTied(config, true), false, scale, 0f);
        return new Blueprint(builder.spec(), Names.of(config, NAMES));
    }

    private static boolean[] dense(ModelConfig config, int layers) {
        int first = config.sizeOrNone("first_k_dense_replace", "leading_dense_block_count", layers);
        List<String> types = !config.isGguf() && config.has(TYPES, "") ? config.strings(TYPES) : List.of();
        if (!types.isEmpty() && types.size() != layers) {
            throw config.unsupported(TYPES, types.size() + " names", "one for each layer");
        }
        var dense = new boolean[layers];
        for (int layer = 0; layer < layers; layer++) {
            dense[layer] = types.isEmpty() ? layer < first : types.get(layer).equals("dense");
            if (!types.isEmpty() && !dense[layer] && !types.get(layer).equals("sparse")) {
                throw config.unsupported(TYPES, types.get(layer), "dense or sparse");
            }
        }
        return dense;
    }

    private static final String TYPES = "mlp_layer_types";

    private static void feedForwards(ModelConfig config, SpecBuilder builder, boolean[] dense) {
        int inner = config.size("prefix_dense_intermediate_size", "feed_forward_length", MOST, builder.sizes.inner());
        int size = config.size("intermediate_size", "expert_feed_forward_length", MOST);
        FeedForwardSpec.Experts experts = experts(config, size);
        Gate gate = Gate.of(config.activation("hidden_act", Activation.SILU));
        for (int layer = 0; layer < dense.length; layer++) {
            builder.feedForwards[layer] = dense[layer] ? new FeedForwardSpec.Gated(inner, gate, false) : experts;
        }
    }

    /** Experts by sigmoids, or by a softmax over the chosen ones alone. */
    private static FeedForwardSpec.Experts experts(ModelConfig config, int size) {
        int count = config.sizeOrNone("num_shared_experts", "expert_shared_count", MOST / size);
        config.integer("", "expert_shared_feed_forward_length", 0);
        boolean isAveraged = config.string(COMBINATION, "", "average").equals("average");
        if (!isAveraged) {
            config.requireWord(COMBINATION, "sum");
        }
        float share = isAveraged && count > 0 ? 0.5f : 1f;
        boolean normalizes = config.flag("norm_topk_prob", "expert_weights_norm", true);
        FeedForwardSpec.Experts soft = Mixture.of(config, size, normalizes);
        return new FeedForwardSpec.Experts(
                        soft.experts(),
                        soft.chosen(),
                        size,
                        soft.gate(),
                        isBySigmoids(config) ? Router.Scoring.SIGMOID : Router.Scoring.SOFTMAX_OF_CHOSEN,
                        normalizes,
                        1,
                        1,
                        false,
                        share,
                        false,
                        count * size,
                        false)
                .with(soft.traits().withSharedScale(share));
    }

    private static final String COMBINATION = "shared_expert_combination_strategy";
    private static final String SELECTION = "expert_selection_fn";

    private static boolean isBySigmoids(ModelConfig config) {
        if (config.isGguf()) {
            int function = config.integer("", "expert_gating_func", 2);
            if (function != 2) {
                throw config.unsupported("expert_gating_func", "" + function, "2; take the model as safetensors");
            }
            return true;
        }
        String function = config.string(SELECTION, "", "softmax");
        if (!function.equals("softmax")) {
            config.requireWord(SELECTION, "sigmoid");
        }
        return function.equals("sigmoid");
    }

    /** Layers that see everything have no positions, but dense ones where all of those do. */
    private static void windows(ModelConfig config, SpecBuilder builder, boolean[] dense) {
        int pattern = config.size("sliding_window_pattern", "", 1 << 20, 4);
        int ofDense = config.size("prefix_dense_sliding_window_pattern", "", 1 << 20, 1);
        int first = 0;
        while (first < dense.length && dense[first]) {
            first++;
        }
        int behind = first;
        builder.windows(
                config,
                config.size("sliding_window", "attention.sliding_window", 1 << 30),
                layer -> layer < behind ? (layer + 1) % ofDense != 0 : (layer - behind + 1) % pattern != 0);
        for (int layer = 0; layer < dense.length; layer++) {
            if (builder.windows[layer] == 0 && !(dense[layer] && ofDense == 1)) {
                builder.ropes[layer] = null;
            }
        }
    }

    private static final Map<Part, String> NAMES = Map.of(
            Part.SHARED_GATE, Names.layer("mlp.shared_experts.gate_proj"),
            Part.SHARED_UP, Names.layer("mlp.shared_experts.up_proj"),
            Part.SHARED_DOWN, Names.layer("mlp.shared_experts.down_proj"));
}
