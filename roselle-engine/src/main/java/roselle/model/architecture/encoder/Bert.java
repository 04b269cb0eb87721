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

/**
 * BERT, an encoder: learned positions, types of tokens, norms behind each half (Devlin et al., 2019). A GGUF calls RoBERTa, XLM-R and
 * DistilBERT so, too, whose positions begin where those of texts do.
 */
public final class Bert implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("bert");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("bert");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        if (config.isGguf()) {
            return new Blueprint(builder(config, Sizes.of(config)).spec(), ggufNames(Names.gguf()));
        }
        return new Blueprint(builder(config, Sizes.of(config)).spec(), names(config, "bert."));
    }

    /** BERT in the sizes of a configuration. */
    static SpecBuilder builder(ModelConfig config, Sizes sizes) {
        String positions = config.string("position_embedding_type", "", "absolute");
        if (!positions.equals("absolute")) {
            throw config.unsupported("position_embedding_type", positions, "absolute");
        }
        var builder = SpecBuilder.ofEncoder(config, sizes);
        builder.layerNorm(config, "layer_norm_eps", true);
        builder.learnedPositions = true;
        builder.types = config.isGguf() ? types(config) : config.size("type_vocab_size", "", 1 << 10, 2);
        builder.plain(config, "hidden_act", Activation.GELU, true);
        return builder;
    }

    /** Types of tokens in a GGUF; DistilBERT has none. */
    static int types(ModelConfig config) {
        return config.hasTensor("token_types.weight") ? config.extent("token_types.weight", 0) : 0;
    }

    /** GGUF's names where norms stand behind each half. */
    static WeightNames ggufNames(WeightNames names) {
        return names.with(Map.of(
                Part.TYPES, "token_types",
                Part.EMBEDDING_NORM, "token_embd_norm",
                Part.POST_ATTENTION_NORM, "blk.{layer}.attn_output_norm",
                Part.POST_FEED_FORWARD_NORM, "blk.{layer}.layer_output_norm"));
    }

    /** Names with a prefix where a model has a head, and without where it has none. */
    static WeightNames names(ModelConfig config, String withHead) {
        String prefix = config.hasTensor(withHead + "embeddings.word_embeddings.weight") ? withHead : "";
        String layer = prefix + "encoder.layer.{layer}.";
        return Names.huggingFace()
                .with(Map.ofEntries(
                        Map.entry(Part.EMBEDDING, prefix + "embeddings.word_embeddings"),
                        Map.entry(Part.POSITIONS, prefix + "embeddings.position_embeddings"),
                        Map.entry(Part.TYPES, prefix + "embeddings.token_type_embeddings"),
                        Map.entry(Part.EMBEDDING_NORM, prefix + "embeddings.LayerNorm"),
                        Map.entry(Part.QUERY, layer + "attention.self.query"),
                        Map.entry(Part.KEY, layer + "attention.self.key"),
                        Map.entry(Part.VALUE, layer + "attention.self.value"),
                        Map.entry(Part.ATTENTION_OUTPUT, layer + "attention.output.dense"),
                        Map.entry(Part.POST_ATTENTION_NORM, layer + "attention.output.LayerNorm"),
                        Map.entry(Part.UP, layer + "intermediate.dense"),
                        Map.entry(Part.DOWN, layer + "output.dense"),
                        Map.entry(Part.POST_FEED_FORWARD_NORM, layer + "output.LayerNorm"),
                        Map.entry(Part.OUTPUT, "cls.predictions"), // whose matrix is the embedding
                        Map.entry(Part.OUTPUT_TRANSFORM, "cls.predictions.transform.dense"),
                        Map.entry(Part.OUTPUT_TRANSFORM_NORM, "cls.predictions.transform.LayerNorm")));
    }
}
