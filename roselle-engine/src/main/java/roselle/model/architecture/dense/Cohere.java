package roselle.model.architecture.dense;

import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.AttentionSpec.QueryKeyNorm;
import roselle.model.spec.BlockSpec;
import roselle.model.spec.OutputSpec;
import roselle.model.weights.Blueprint;

/** Command R: attention and feed-forward side by side behind one layer norm, pairs of neighbours rotated. */
public final class Cohere implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("cohere");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("command-r");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        builder.layerNorm(config, "layer_norm_eps", false);
        builder.block = new BlockSpec(true, false, true, true, 1f);
        builder.rope(config, 500_000, true);
        builder.projectionBias = config.flag("attention_bias", "", false);
        builder.attentionOutputBias = builder.projectionBias;
        boolean norms =
                config.isGguf() ? config.hasTensor("blk.0.attn_q_norm.weight") : config.flag("use_qk_norm", "", false);
        builder.queryKeyNorm = norms ? QueryKeyNorm.PER_HEAD : QueryKeyNorm.NONE;
        builder.gated(config, "hidden_act", Activation.SILU, false);
        float scale = (float) config.number("logit_scale", "logit_scale", 0.0625);
        builder.output = new OutputSpec(SpecBuilder.isTied(config, true), false, scale, 0f);
        return new Blueprint(builder.spec(), Names.of(config, Map.of()));
    }
}
