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

/** Jina's third embedder: XLM-R with rotary positions (Sturua et al., 2024); what it has for single tasks are adapters. */
public final class JinaV3 implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("jina_embeddings_v3");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of();
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.ofEncoder(config, Sizes.of(config));
        builder.layerNorm(config, "layer_norm_eps", true);
        builder.types = config.size("type_vocab_size", "", 1 << 10, 1);
        builder.rope(config, 20_000, false);
        builder.plain(config, "hidden_act", Activation.GELU, true);
        return new Blueprint(builder.spec(), names(config));
    }

    private static WeightNames names(ModelConfig config) {
        String prefix = config.hasTensor("roberta.embeddings.word_embeddings.weight") ? "roberta." : "";
        String layer = prefix + "encoder.layers.{layer}.";
        return Names.huggingFace()
                .with(Map.ofEntries(
                        Map.entry(Part.EMBEDDING, prefix + "embeddings.word_embeddings"),
                        Map.entry(Part.TYPES, prefix + "embeddings.token_type_embeddings"),
                        Map.entry(Part.EMBEDDING_NORM, prefix + "emb_ln"),
                        Map.entry(Part.QUERY_KEY_VALUE, layer + "mixer.Wqkv"),
                        Map.entry(Part.ATTENTION_OUTPUT, layer + "mixer.out_proj"),
                        Map.entry(Part.POST_ATTENTION_NORM, layer + "norm1"),
                        Map.entry(Part.UP, layer + "mlp.fc1"),
                        Map.entry(Part.DOWN, layer + "mlp.fc2"),
                        Map.entry(Part.POST_FEED_FORWARD_NORM, layer + "norm2")));
    }
}
