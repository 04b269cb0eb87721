package roselle.model.architecture.expert;

import java.util.Arrays;
import java.util.Set;
import roselle.model.config.Architecture;
import roselle.model.config.Mixture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.FeedForwardSpec;
import roselle.model.spec.OutputSpec;
import roselle.model.weights.Blueprint;

/** Phi 3.5 MoE (Abdin et al., 2024): layer norms, biases, LongRoPE, and two experts a token that are chosen one behind the other. */
public final class PhiMoe implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("phimoe");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("phimoe");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        builder.layerNorm(norm(config));
        builder.rope(config, 10_000, false);
        builder.windows(config, config.window("sliding_window", "attention.sliding_window"), _ -> true);
        config.pass("original_max_position_embeddings", "input_jitter_noise");
        builder.projectionBias = config.flagOrTensor("attention_bias", "blk.0.attn_q.bias", false);
        builder.attentionOutputBias = builder.projectionBias;
        boolean outputBias = config.flagOrTensor("lm_head_bias", "output.bias", false);
        builder.output = new OutputSpec(SpecBuilder.isTied(config, false), outputBias, 1f, 0f);
        Arrays.fill(builder.feedForwards, experts(config, builder.sizes.inner()));
        return new Blueprint(builder.spec(), config.isGguf() ? Names.gguf() : Mixtral.NAMES);
    }

    /** GGUF says it of other norms than there are. */
    private static double norm(ModelConfig config) {
        return config.number("rms_norm_eps", "attention.layer_norm_rms_epsilon", 1e-5);
    }

    /** Twice the noise of training is how far below the best a logit may lie; files of GGUF do not tell it. */
    private static FeedForwardSpec.Experts experts(ModelConfig config, int size) {
        double noise = config.number("router_jitter_noise", "", 0.01);
        FeedForwardSpec.Experts experts = Mixture.of(config, size, false);
        if (experts.chosen() > 2) {
            throw config.unsupported("num_experts_per_tok", Integer.toString(experts.chosen()), "1 or 2");
        }
        return experts.withNearness((float) (2 * noise));
    }
}
