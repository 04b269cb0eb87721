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

/** DistilBERT: half of BERT's layers, under names of its own, without types of tokens (Sanh et al., 2019). */
public final class DistilBert implements Architecture {
    private static final double EPSILON = 1e-12;

    @Override
    public Set<String> modelTypes() {
        return Set.of("distilbert");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of();
    }

    @Override
    public Blueprint read(ModelConfig config) {
        config.flag("sinusoidal_pos_embds", "", false); // how the table was begun; it is stored either way
        var builder = SpecBuilder.ofEncoder(config, Sizes.ofDistilBert(config));
        builder.layerNorm(EPSILON);
        builder.learnedPositions = true;
        builder.plain(config, "activation", Activation.GELU, true);
        return new Blueprint(builder.spec(), names(config));
    }

    private static WeightNames names(ModelConfig config) {
        String prefix = config.hasTensor("distilbert.embeddings.word_embeddings.weight") ? "distilbert." : "";
        String layer = prefix + "transformer.layer.{layer}.";
        return Names.huggingFace()
                .with(Map.ofEntries(
                        Map.entry(Part.EMBEDDING, prefix + "embeddings.word_embeddings"),
                        Map.entry(Part.POSITIONS, prefix + "embeddings.position_embeddings"),
                        Map.entry(Part.EMBEDDING_NORM, prefix + "embeddings.LayerNorm"),
                        Map.entry(Part.QUERY, layer + "attention.q_lin"),
                        Map.entry(Part.KEY, layer + "attention.k_lin"),
                        Map.entry(Part.VALUE, layer + "attention.v_lin"),
                        Map.entry(Part.ATTENTION_OUTPUT, layer + "attention.out_lin"),
                        Map.entry(Part.POST_ATTENTION_NORM, layer + "sa_layer_norm"),
                        Map.entry(Part.UP, layer + "ffn.lin1"),
                        Map.entry(Part.DOWN, layer + "ffn.lin2"),
                        Map.entry(Part.POST_FEED_FORWARD_NORM, layer + "output_layer_norm"),
                        Map.entry(Part.OUTPUT, "vocab_projector"), // whose matrix is the embedding
                        Map.entry(Part.OUTPUT_TRANSFORM, "vocab_transform"),
                        Map.entry(Part.OUTPUT_TRANSFORM_NORM, "vocab_layer_norm")));
    }
}
