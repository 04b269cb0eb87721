package roselle.model.architecture.llama;

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

/** Granite: Llama with a multiplier on embeddings, scores, residuals and logits. */
public final class Granite implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("granite");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("granite");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        SpecBuilder builder = builder(config, Sizes.of(config));
        boolean innerBias =
                config.isGguf() ? config.hasTensor("blk.0.ffn_down.bias") : config.flag("mlp_bias", "", false);
        builder.gated(config, "hidden_act", Activation.SILU, innerBias);
        return new Blueprint(builder.spec(), Names.of(config, Map.of()));
    }

    /** All but the feed-forwards. */
    public static SpecBuilder builder(ModelConfig config, Sizes sizes) {
        var builder = SpecBuilder.of(config, sizes);
        builder.rmsNorm(config, 0f);
        builder.rope(config, 10_000, config.isGguf());
        boolean bias =
                config.isGguf() ? config.hasTensor("blk.0.attn_q.bias") : config.flag("attention_bias", "", false);
        builder.projectionBias = bias;
        builder.attentionOutputBias = bias;
        builder.scoreScale =
                (float) config.number("attention_multiplier", "attention.scale", assumedScale(config, builder));
        builder.embeddingScale = (float) config.number("embedding_multiplier", "embedding_scale", 1);
        float residual = (float) config.number("residual_multiplier", "residual_scale", 1);
        builder.block = new BlockSpec(true, false, false, false, residual);
        double divisor = config.number("logits_scaling", "logit_scale", 1);
        builder.output = new OutputSpec(SpecBuilder.isTied(config, false), false, (float) (1 / divisor), 0f);
        return builder;
    }

    /** Hugging Face's own default is 1, llama.cpp's that of other models. */
    private static double assumedScale(ModelConfig config, SpecBuilder builder) {
        return config.isGguf() ? builder.scoreScale : 1;
    }
}
