package roselle.model.architecture.expert;

import java.util.Arrays;
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
import roselle.model.spec.FeedForwardSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;
import roselle.model.weights.WeightNames;

/** gpt-oss: sinks, a window in every other layer, biased experts with bounded gates, maybe in MXFP4. */
public final class GptOss implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("gpt_oss");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("gpt-oss");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        builder.rmsNorm(config, 0f);
        builder.rope(config, 150_000, false);
        builder.projectionBias = config.flag("attention_bias", "", true);
        builder.attentionOutputBias = builder.projectionBias;
        builder.sinks = true;
        builder.windows(config, config.window("sliding_window", "attention.sliding_window"), layer -> layer % 2 == 0);
        if (config.activation("hidden_act", Activation.SILU) != Activation.SILU) {
            throw config.unsupported("hidden_act", "not silu", "silu");
        }
        Arrays.fill(builder.feedForwards, experts(config));
        return new Blueprint(builder.spec(), config.isGguf() ? GGUF_NAMES : NAMES);
    }

    private static final WeightNames GGUF_NAMES =
            Names.gguf().with(Map.of(Part.FEED_FORWARD_NORM, "blk.{layer}.post_attention_norm"));
    private static final WeightNames NAMES = Names.huggingFace()
            .with(Map.of(
                    Part.SINKS, Names.layer("self_attn.sinks"),
                    Part.ROUTER, Names.layer("mlp.router"),
                    Part.EXPERT_GATE_UP, Names.layer("mlp.experts.gate_up_proj"),
                    Part.EXPERT_DOWN, Names.layer("mlp.experts.down_proj")))
            .with(WeightNames.Layout.ALTERNATING_EXPERTS);

    private static FeedForwardSpec.Experts experts(ModelConfig config) {
        int size = config.size("intermediate_size", "expert_feed_forward_length", 1 << 24);
        requireKnownSlope(config);
        float limit = (float) config.number("swiglu_limit", "", 7);
        FeedForwardSpec.Experts experts = Mixture.of(config, size, false);
        return new FeedForwardSpec.Experts(
                experts.experts(),
                experts.chosen(),
                size,
                new Gate(Activation.GELU_QUICK, limit, 1f),
                Router.Scoring.SOFTMAX_OF_CHOSEN,
                false,
                1,
                1,
                false,
                1f,
                true,
                0,
                false);
    }

    /** The slope of the gate's sigmoid, which newer configurations spell out. */
    private static void requireKnownSlope(ModelConfig config) {
        double slope = config.number("swiglu_alpha", "", 1.702);
        if (slope != 1.702) {
            throw config.unsupported("swiglu_alpha", Double.toString(slope), "1.702");
        }
    }
}
