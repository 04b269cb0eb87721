package roselle.model.architecture.expert;

import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.AttentionSpec.QueryKeyNorm;
import roselle.model.weights.Blueprint;

/** dots.llm1: Qwen 3's heads, and experts chosen as DeepSeek V3 does behind the first few layers. */
public final class Dots1 implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("dots1");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("dots1");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        builder.rmsNorm(config, 0f);
        builder.rope(config, 10_000, false);
        builder.queryKeyNorm = QueryKeyNorm.PER_HEAD;
        builder.projectionBias = config.flagOrTensor("attention_bias", "blk.0.attn_q.bias", false);
        builder.attentionOutputBias = builder.projectionBias;
        int first = config.sizeOrNone("max_window_layers", "", 1 << 20);
        builder.windows(config, config.window("sliding_window", ""), layer -> layer >= first);
        builder.gated(config, "hidden_act", Activation.SILU, false);
        DeepseekV3.behindDense(config, builder, DeepseekV3.experts(config));
        return new Blueprint(builder.spec(), Names.of(config, DeepseekV3.NAMES));
    }
}
