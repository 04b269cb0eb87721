package roselle.model.architecture.hybrid;

import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.model.config.Architecture;
import roselle.model.config.Mixture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.FeedForwardSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;

/** LFM 2 with experts in all layers but the first few. */
public final class Lfm2Moe implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("lfm2_moe");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("lfm2moe");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        SpecBuilder builder = Lfm2.builder(config);
        builder.gated(config, "hidden_act", Activation.SILU, false);
        FeedForwardSpec.Experts experts = experts(config);
        int dense = config.integer("num_dense_layers", "leading_dense_block_count", 2);
        for (int layer = Math.max(0, dense); layer < builder.feedForwards.length; layer++) {
            builder.feedForwards[layer] = experts;
        }
        return new Blueprint(
                builder.spec(Lfm2.attentions(config, builder)),
                config.isGguf()
                        ? Names.gguf().with(Lfm2.GGUF_NAMES)
                        : Names.huggingFace().with(Lfm2.NAMES).with(NAMES));
    }

    private static final int MOST = 1 << 24;
    private static final String EXPERT = Names.layer("feed_forward.experts.{expert}.");
    private static final Map<Part, String> NAMES = Map.of(
            Part.ROUTER, Names.layer("feed_forward.gate"),
            Part.ROUTER_CORRECTION, Names.layer("feed_forward.expert_bias"),
            Part.EXPERT_GATE, EXPERT + "w1",
            Part.EXPERT_UP, EXPERT + "w3",
            Part.EXPERT_DOWN, EXPERT + "w2");

    /** Weights are divided by their sum alone, as llama.cpp has it; transformers adds a millionth to the sum. */
    private static FeedForwardSpec.Experts experts(ModelConfig config) {
        int size = config.size("moe_intermediate_size", "expert_feed_forward_length", MOST);
        config.requireSigmoids();
        boolean normalizes = config.flag("norm_topk_prob", "", true);
        float scale = (float) config.number("routed_scaling_factor", "expert_weights_scale", 1);
        return Mixture.of(config, size, normalizes).withSigmoids(config.flag("use_expert_bias", "", true), scale);
    }
}
