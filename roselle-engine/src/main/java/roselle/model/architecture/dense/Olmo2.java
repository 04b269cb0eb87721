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
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;

/** OLMo 2: norms on what each half adds, and on all queries and all keys together. */
public final class Olmo2 implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("olmo2");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of(); // one name for this and its successor, which reads it
    }

    @Override
    public Blueprint read(ModelConfig config) {
        SpecBuilder builder = builder(config);
        builder.rope(config, 10_000, false);
        return new Blueprint(builder.spec(), Names.huggingFace().with(NAMES));
    }

    /** What this family and its successor have in common, but for positions and windows. */
    static SpecBuilder builder(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        builder.rmsNorm(config, 0f);
        builder.block = new BlockSpec(false, true, false, false, 1f);
        builder.queryKeyNorm = QueryKeyNorm.ALL_HEADS;
        builder.projectionBias = config.flag("attention_bias", "", false);
        builder.attentionOutputBias = builder.projectionBias;
        builder.gated(config, "hidden_act", Activation.SILU, false);
        return builder;
    }

    public static final Map<Part, String> NAMES = Map.of(
            Part.POST_ATTENTION_NORM, Names.layer("post_attention_layernorm"),
            Part.POST_FEED_FORWARD_NORM, Names.layer("post_feedforward_layernorm"));
}
