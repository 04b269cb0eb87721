package roselle.model.architecture.dense;

import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Ropes;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.AttentionSpec.QueryKeyNorm;
import roselle.model.spec.BlockSpec;
import roselle.model.spec.OutputSpec;
import roselle.model.spec.RopeScaling;
import roselle.model.spec.RopeSpec;
import roselle.model.weights.Blueprint;

/**
 * Gemma 3, text only: Gemma 2 with normalised heads instead of soft caps, and one full layer in six. EmbeddingGemma is the same, but
 * every token sees those behind it, too, and there are no logits.
 */
public final class Gemma3 implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("gemma3_text");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("gemma3", "gemma-embedding");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.ofEitherWay(config, Sizes.of(config));
        builder.rmsNorm(config, 1f);
        builder.block = new BlockSpec(true, true, false, false, 1f);
        builder.queryKeyNorm = QueryKeyNorm.PER_HEAD;
        builder.embeddingScale = (float) Math.sqrt(builder.sizes.width());
        builder.projectionBias = config.flag("attention_bias", "", false);
        builder.attentionOutputBias = builder.projectionBias;
        int pattern = config.size("sliding_window_pattern", "attention.sliding_window_pattern", 1 << 20, 6);
        int told = config.size("sliding_window", "attention.sliding_window", 1 << 30);
        int window = builder.bidirectional ? told / 2 + 1 : told; // half of it in each direction
        builder.windows(config, window, layer -> (layer + 1) % pattern != 0);
        ropes(config, builder);
        builder.scoreScale =
                (float) (1 / Math.sqrt(config.number("query_pre_attn_scalar", "", assumedScalar(builder.sizes))));
        builder.scoreSoftCap = (float) config.number("attn_logit_softcapping", "attn_logit_softcapping", 0);
        config.has("hidden_act", "");
        builder.gated(config, "hidden_activation", Activation.GELU_TANH, false);
        float softCap = (float) config.number("final_logit_softcapping", "final_logit_softcapping", 0);
        boolean tied = SpecBuilder.isTied(config, true);
        builder.output = builder.bidirectional ? null : new OutputSpec(tied, false, 1f, softCap);
        return new Blueprint(builder.spec(), Names.of(config, Gemma2.NAMES));
    }

    private static final double FULL_THETA = 1_000_000;
    private static final double WINDOW_THETA = 10_000;

    /** Layers with a window have a base of their own and are never scaled. */
    private static void ropes(ModelConfig config, SpecBuilder builder) {
        RopeSpec full;
        RopeSpec sliding;
        var ropes = new Ropes(config, builder.sizes.headSize(), builder.sizes.context(), FULL_THETA, false);
        if (config.isGguf()) {
            full = ropes.read();
            sliding = ropes.gguf(config.number("", "rope.freq_base_swa", WINDOW_THETA), new RopeScaling.None());
        } else if (config.object("rope_parameters").isPresent()) {
            full = ropes.read("full_attention");
            sliding = ropes.read("sliding_attention");
        } else {
            full = ropes.read();
            sliding = ropes.plain(config.number("rope_local_base_freq", "", WINDOW_THETA), 1);
        }
        builder.ropes(full, sliding);
    }

    /** GGUF does not say by what scores are scaled: the 27B model, with 62 layers, divides the width by its heads. */
    private static double assumedScalar(Sizes sizes) {
        return sizes.layers() == 62 ? (double) sizes.width() / sizes.heads() : sizes.headSize();
    }
}
