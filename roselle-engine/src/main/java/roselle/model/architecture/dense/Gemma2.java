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
import roselle.model.weights.Part;

/** Gemma 2: Gemma with norms on both sides of each half, soft caps, and a window in every other layer. */
public final class Gemma2 implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("gemma2");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("gemma2");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        return new Blueprint(builder(config).spec(), Names.of(config, NAMES));
    }

    static SpecBuilder builder(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        builder.rmsNorm(config, 1f);
        builder.block = new BlockSpec(true, true, false, false, 1f);
        builder.rope(config, 10_000, false);
        builder.embeddingScale = (float) Math.sqrt(builder.sizes.width());
        builder.projectionBias = config.flag("attention_bias", "", false);
        builder.attentionOutputBias = builder.projectionBias;
        builder.windows(config, config.window("sliding_window", "attention.sliding_window"), layer -> layer % 2 == 0);
        builder.scoreScale =
                (float) (1 / Math.sqrt(config.number("query_pre_attn_scalar", "", assumedScalar(builder.sizes))));
        builder.scoreSoftCap = (float) config.number("attn_logit_softcapping", "attn_logit_softcapping", 0);
        config.has("hidden_act", "");
        builder.gated(config, "hidden_activation", Activation.GELU_TANH, false);
        float softCap = (float) config.number("final_logit_softcapping", "final_logit_softcapping", 0);
        builder.output = new OutputSpec(SpecBuilder.isTied(config, true), false, 1f, softCap);
        return builder;
    }

    static final Map<Part, String> NAMES = Map.of(
            Part.POST_ATTENTION_NORM, Names.layer("post_attention_layernorm"),
            Part.FEED_FORWARD_NORM, Names.layer("pre_feedforward_layernorm"),
            Part.POST_FEED_FORWARD_NORM, Names.layer("post_feedforward_layernorm"));

    /** GGUF does not say by what scores are scaled: the 27B model, with 46 layers, divides the width by its heads. */
    private static double assumedScalar(Sizes sizes) {
        return sizes.layers() == 46 ? (double) sizes.width() / sizes.heads() : sizes.headSize();
    }
}
