package roselle.model.architecture.dense;

import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.BlockSpec;
import roselle.model.spec.OutputSpec;
import roselle.model.weights.Blueprint;

/** Command R7B and A: Command R with windows, and without positions in the layers that see all. */
public final class Cohere2 implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("cohere2");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("cohere2");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        requireKnown(config);
        builder.layerNorm(config, "layer_norm_eps", false);
        builder.block = new BlockSpec(true, false, true, true, 1f);
        builder.rope(config, 10_000, true);
        builder.projectionBias = config.flag("attention_bias", "", false);
        builder.attentionOutputBias = builder.projectionBias;
        builder.gated(config, "hidden_act", Activation.SILU, false);
        windows(config, builder);
        float scale = (float) config.number("logit_scale", "logit_scale", 0.0625);
        builder.output = new OutputSpec(SpecBuilder.isTied(config, true), false, scale, 0f);
        return new Blueprint(builder.spec(), Names.of(config, Map.of()));
    }

    private static void windows(ModelConfig config, SpecBuilder builder) {
        int switches = config.size("layer_switch", "", 1 << 20, 4);
        int pattern = config.size("sliding_window_pattern", "", 1 << 20, switches);
        builder.windows(
                config,
                config.size("sliding_window", "attention.sliding_window", 1 << 30),
                layer -> (layer + 1) % pattern != 0);
        builder.dropPositionsOfFullLayers();
    }

    /** Refuses what configurations spell out and no published one has otherwise. */
    private static void requireKnown(ModelConfig config) {
        config.requireOn("use_embedding_sharing", "use_gated_activation", "use_parallel_block");
        config.requireWord("position_embedding_type", "rope_gptj");
        config.requireWord("order_of_interleaved_layers", "local_attn_first");
        config.pass("cache_implementation", "use_parallel_embedding"); // how weights are spread over devices
    }
}
