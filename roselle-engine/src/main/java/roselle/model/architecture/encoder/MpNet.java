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

/** MPNet: BERT whose attention also knows how far a token is (Song et al., 2020). */
public final class MpNet implements Architecture {
    private static final int BUCKETS = 32;
    private static final int FIRST_POSITION = 2; // behind that of padding

    @Override
    public Set<String> modelTypes() {
        return Set.of("mpnet");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of();
    }

    @Override
    public Blueprint read(ModelConfig config) {
        int buckets = config.size("relative_attention_num_buckets", "", 1 << 10, BUCKETS);
        if (buckets != BUCKETS) {
            throw config.unsupported("relative_attention_num_buckets", Integer.toString(buckets), "" + BUCKETS);
        }
        Sizes sizes = Sizes.of(config);
        var builder = SpecBuilder.ofEncoder(config, sizes.withContext(sizes.context() - FIRST_POSITION));
        builder.layerNorm(config, "layer_norm_eps", true);
        builder.learnedPositions = true;
        builder.firstPosition = FIRST_POSITION;
        builder.distanceBuckets = buckets;
        builder.plain(config, "hidden_act", Activation.GELU, true);
        return new Blueprint(builder.spec(), names(config));
    }

    private static WeightNames names(ModelConfig config) {
        String prefix = config.hasTensor("mpnet.embeddings.word_embeddings.weight") ? "mpnet." : "";
        String layer = prefix + "encoder.layer.{layer}.";
        return Names.huggingFace()
                .with(Map.ofEntries(
                        Map.entry(Part.EMBEDDING, prefix + "embeddings.word_embeddings"),
                        Map.entry(Part.POSITIONS, prefix + "embeddings.position_embeddings"),
                        Map.entry(Part.EMBEDDING_NORM, prefix + "embeddings.LayerNorm"),
                        Map.entry(Part.DISTANCES, prefix + "encoder.relative_attention_bias"),
                        Map.entry(Part.QUERY, layer + "attention.attn.q"),
                        Map.entry(Part.KEY, layer + "attention.attn.k"),
                        Map.entry(Part.VALUE, layer + "attention.attn.v"),
                        Map.entry(Part.ATTENTION_OUTPUT, layer + "attention.attn.o"),
                        Map.entry(Part.POST_ATTENTION_NORM, layer + "attention.LayerNorm"),
                        Map.entry(Part.UP, layer + "intermediate.dense"),
                        Map.entry(Part.DOWN, layer + "output.dense"),
                        Map.entry(Part.POST_FEED_FORWARD_NORM, layer + "output.LayerNorm")));
    }
}
