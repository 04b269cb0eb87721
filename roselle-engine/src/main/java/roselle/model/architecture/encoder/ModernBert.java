package roselle.model.architecture.encoder;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Ropes;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.BlockSpec;
import roselle.model.spec.RopeScaling;
import roselle.model.spec.RopeSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;
import roselle.model.weights.WeightNames;

/** ModernBERT: norms before each half, rotary positions, gates, and two layers in three that see near tokens alone (Warner et al., 2024). */
public final class ModernBert implements Architecture {
    private static final double FULL_THETA = 160_000;
    private static final double WINDOW_THETA = 10_000;

    @Override
    public Set<String> modelTypes() {
        return Set.of("modernbert");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("modern-bert");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.ofEncoder(config, Sizes.of(config));
        builder.block = BlockSpec.NORMED_EMBEDDING;
        norm(config, builder);
        builder.projectionBias = config.flag("attention_bias", "", false);
        builder.attentionOutputBias = builder.projectionBias;
        config.requireOff("mlp_bias");
        builder.gated(config, "hidden_activation", activation(config), false);
        int every = config.size("global_attn_every_n_layers", "attention.sliding_window_pattern", 1 << 10, 3);
        int window = config.size("local_attention", "attention.sliding_window", 1 << 20, 128) / 2
                + 1; // in each direction, with the token itself
        if (config.isGguf()) {
            Arrays.setAll(builder.windows, layer -> layer % every == 0 ? 0 : window);
        } else {
            builder.windows(config, window, layer -> layer % every != 0);
        }
        ropes(config, builder);
        return new Blueprint(builder.spec(), names(config));
    }

    /** A GGUF says the epsilon under either of two names. */
    private static void norm(ModelConfig config, SpecBuilder builder) {
        if (config.isGguf() && !config.has("", "attention.layer_norm_epsilon")) {
            builder.layerNorm(config.number("", "attention.layer_norm_rms_epsilon", 1e-5), false);
        } else {
            builder.layerNorm(config, "norm_eps", config.flag("norm_bias", "", false));
        }
    }

    private static Activation activation(ModelConfig config) {
        String name = config.string("", "hidden_activation", "gelu");
        return switch (name) {
            case "gelu" -> Activation.GELU;
            case "silu" -> Activation.SILU;
            default -> throw config.unsupported("hidden_activation", name, "gelu or silu");
        };
    }

    private static void ropes(ModelConfig config, SpecBuilder builder) {
        var ropes = new Ropes(config, builder.sizes.headSize(), builder.sizes.context(), FULL_THETA, false);
        if (config.isGguf()) {
            RopeSpec near = ropes.gguf(config.number("", "rope.freq_base_swa", WINDOW_THETA), new RopeScaling.None());
            builder.ropes(ropes.read(), near);
            return;
        }
        boolean told = config.object("rope_parameters").isPresent();
        RopeSpec full = told
                ? ropes.read("full_attention")
                : ropes.plain(config.number("global_rope_theta", "", FULL_THETA), 1);
        RopeSpec near = told
                ? ropes.read("sliding_attention")
                : ropes.plain(config.number("local_rope_theta", "", WINDOW_THETA), 1);
        builder.ropes(full, near);
    }

    private static WeightNames names(ModelConfig config) {
        if (config.isGguf()) {
            return Names.ggufWithFusedGate().with(Map.of(Part.EMBEDDING_NORM, "token_embd_norm"));
        }
        String prefix = config.hasTensor("model.embeddings.tok_embeddings.weight") ? "model." : "";
        String layer = prefix + "layers.{layer}.";
        return Names.huggingFace()
                .with(Map.ofEntries(
                        Map.entry(Part.EMBEDDING, prefix + "embeddings.tok_embeddings"),
                        Map.entry(Part.EMBEDDING_NORM, prefix + "embeddings.norm"),
                        Map.entry(Part.ATTENTION_NORM, layer + "attn_norm"),
                        Map.entry(Part.QUERY_KEY_VALUE, layer + "attn.Wqkv"),
                        Map.entry(Part.ATTENTION_OUTPUT, layer + "attn.Wo"),
                        Map.entry(Part.FEED_FORWARD_NORM, layer + "mlp_norm"),
                        Map.entry(Part.GATE_UP, layer + "mlp.Wi"),
                        Map.entry(Part.DOWN, layer + "mlp.Wo"),
                        Map.entry(Part.FINAL_NORM, prefix + "final_norm")));
    }
}
