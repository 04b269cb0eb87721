package roselle.model.architecture.encoder;

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
import roselle.model.spec.FeedForwardSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;
import roselle.model.weights.WeightNames;

/** GTE's encoders: BERT with rotary positions and gated feed-forwards (Zhang et al., 2024). */
public final class Gte implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("gte");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of();
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.ofEncoder(config, Sizes.of(config));
        builder.layerNorm(config, "layer_norm_eps", true);
        boolean typed = config.integer("type_vocab_size", "", 1) != 0;
        builder.types = typed ? config.size("type_vocab_size", "", 1 << 10, 1) : 0;
        builder.rope(config, 160_000, false);
        Gate gate = Gate.of(config.activation("hidden_act", Activation.GELU));
        Arrays.fill(builder.feedForwards, new FeedForwardSpec.Gated(builder.sizes.inner(), gate, false, true));
        return new Blueprint(builder.spec(), names(config));
    }

    private static WeightNames names(ModelConfig config) {
        String prefix = config.hasTensor("gte.embeddings.word_embeddings.weight") ? "gte." : "";
        String layer = prefix + "encoder.layer.{layer}.";
        return Names.huggingFace()
                .with(Map.ofEntries(
                        Map.entry(Part.EMBEDDING, prefix + "embeddings.word_embeddings"),
                        Map.entry(Part.TYPES, prefix + "embeddings.token_type_embeddings"),
                        Map.entry(Part.EMBEDDING_NORM, prefix + "embeddings.LayerNorm"),
                        Map.entry(Part.QUERY_KEY_VALUE, layer + "attention.qkv_proj"),
                        Map.entry(Part.ATTENTION_OUTPUT, layer + "attention.o_proj"),
                        Map.entry(Part.POST_ATTENTION_NORM, layer + "attn_ln"),
                        Map.entry(Part.UP_GATE, layer + "mlp.up_gate_proj"),
                        Map.entry(Part.DOWN, layer + "mlp.down_proj"),
                        Map.entry(Part.POST_FEED_FORWARD_NORM, layer + "mlp_ln")));
    }
}
