package roselle.model.architecture.hybrid;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.backend.operation.Gate;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.config.StateSpaces;
import roselle.model.spec.AttentionSpec;
import roselle.model.spec.FeedForwardSpec;
import roselle.model.spec.OutputSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;

/** Falcon-H1: in each layer heads that attend and a state space beside them, and multipliers, which a GGUF has in its weights. */
public final class FalconH1 implements Architecture {
    private static final StateSpaces.Fields FIELDS = new StateSpaces.Fields(
            "mamba_n_heads",
            "mamba_d_head",
            "mamba_n_groups",
            "mamba_d_state",
            "mamba_d_conv",
            "",
            "mamba_proj_bias",
            "mamba_conv_bias",
            "rms_norm_eps");

    @Override
    public Set<String> modelTypes() {
        return Set.of("falcon_h1");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("falcon-h1");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        config.requireOff("attention_bias", "mlp_bias", "mamba_proj_bias", "projectors_bias");
        config.requireOn("mamba_use_mlp");
        config.pass("layer_types", "layers_block_type", "num_logits_to_keep", "mamba_expand");
        Sizes sizes = Sizes.of(config);
        SpecBuilder builder = SpecBuilder.of(config, sizes);
        builder.rmsNorm(config, 0f, 1e-5);
        builder.rope(config, 100_000, false);
        builder.embeddingScale = multiplier(config, "embedding_multiplier");
        builder.output =
                new OutputSpec(SpecBuilder.isTied(config, false), false, multiplier(config, "lm_head_multiplier"), 0f);
        Gate gate = Gate.of(config.activation("hidden_act", Activation.SILU));
        float[] ofFeedForward = multipliers(config, "mlp_multipliers", 2);
        Arrays.fill(
                builder.feedForwards,
                new FeedForwardSpec.Gated(sizes.inner(), gate, false).with(ofFeedForward[0], ofFeedForward[1]));
        float input = multiplier(config, "attention_in_multiplier");
        builder.scoreScale *= input * input * multiplier(config, "key_multiplier");
        builder.traits = builder.traits.withOutputScale(input * multiplier(config, "attention_out_multiplier"));
        AttentionSpec.StateSpace space = space(config, sizes);
        AttentionSpec.MultiHead[] heads = builder.heads();
        var attentions = new AttentionSpec[heads.length];
        Arrays.setAll(attentions, layer -> new AttentionSpec.HeadsAndSpace(heads[layer], space));
        return new Blueprint(
                builder.spec(attentions),
                config.isGguf()
                        ? Names.gguf().with(Hybrids.GGUF_NAMES)
                        : Names.huggingFace().with(Hybrids.NAMES).with(NAMES));
    }

    private static AttentionSpec.StateSpace space(ModelConfig config, Sizes sizes) {
        AttentionSpec.StateSpace space = StateSpaces.of(config, FIELDS, sizes.width(), 0);
        int inner = config.integer("mamba_d_ssm", "", space.heads().values());
        if (inner != space.heads().values()) {
            throw config.unsupported(
                    "mamba_d_ssm",
                    "" + inner,
                    "as many as all heads have, " + space.heads().values());
        }
        boolean normalizes =
                config.isGguf() ? config.hasTensor("blk.0.ssm_norm.weight") : config.flag("mamba_rms_norm", "", false);
        boolean isBefore = config.flag("mamba_norm_before_gate", "", !normalizes);
        if (normalizes && isBefore && !config.isGguf()) {
            throw config.unsupported("mamba_norm_before_gate", "true", "false");
        }
        float[] parts = multipliers(config, "ssm_multipliers", 5);
        float input = multiplier(config, "ssm_in_multiplier");
        return space.with(
                normalizes,
                new AttentionSpec.StateSpace.Scales(
                        input * parts[0],
                        input * parts[1],
                        input * parts[2],
                        input * parts[3],
                        input * parts[4],
                        multiplier(config, "ssm_out_multiplier")));
    }

    private static float multiplier(ModelConfig config, String field) {
        return (float) config.number(field, "", 1);
    }

    private static float[] multipliers(ModelConfig config, String field, int count) {
        var all = new float[count];
        Arrays.fill(all, 1f);
        if (!config.isGguf() && config.has(field, "")) {
            all = config.numbers(field);
        }
        if (all.length != count) {
            throw config.unsupported(field, all.length + " numbers", count + " numbers");
        }
        return all;
    }

    private static final Map<Part, String> NAMES = Map.of(
            Part.FINAL_NORM, "model.final_layernorm",
            Part.FEED_FORWARD_NORM, Names.layer("pre_ff_layernorm"),
            Part.GATE, Names.layer("feed_forward.gate_proj"),
            Part.UP, Names.layer("feed_forward.up_proj"),
            Part.DOWN, Names.layer("feed_forward.down_proj"));
}
