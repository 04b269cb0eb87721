package roselle.model.architecture.encoder;

import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;
import roselle.model.weights.WeightNames;

/** Nomic's BERT: rotary positions, gated feed-forwards, no biases but of norms (Nussbaum et al., 2024). */
public final class NomicBert implements Architecture {
    private static final String LAYER = "encoder.layers.{layer}.";

    @Override
    public Set<String> modelTypes() {
        return Set.of("nomic_bert");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("nomic-bert");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.ofEncoder(config, Sizes.of(config));
        builder.layerNorm(config, "layer_norm_eps", true);
        builder.types = config.isGguf() ? Bert.types(config) : config.size("type_vocab_size", "", 1 << 10, 2);
        builder.rope(config, 1_000, false);
        builder.projectionBias = false;
        builder.attentionOutputBias = false;
        builder.gated(config, "hidden_act", Activation.SILU, false);
        return new Blueprint(builder.spec(), config.isGguf() ? Bert.ggufNames(Names.gguf()) : names());
    }

    private static WeightNames names() {
        return Names.huggingFace()
                .with(Map.ofEntries(
                        Map.entry(Part.EMBEDDING, "embeddings.word_embeddings"),
                        Map.entry(Part.TYPES, "embeddings.token_type_embeddings"),
                        Map.entry(Part.EMBEDDING_NORM, "emb_ln"),
                        Map.entry(Part.QUERY_KEY_VALUE, LAYER + "attn.Wqkv"),
                        Map.entry(Part.ATTENTION_OUTPUT, LAYER + "attn.out_proj"),
                        Map.entry(Part.POST_ATTENTION_NORM, LAYER + "norm1"),
                        Map.entry(Part.UP, LAYER + "mlp.fc11"),
                        Map.entry(Part.GATE, LAYER + "mlp.fc12"),
                        Map.entry(Part.DOWN, LAYER + "mlp.fc2"),
                        Map.entry(Part.POST_FEED_FORWARD_NORM, LAYER + "norm2")));
    }
}
