package roselle.model.architecture.encoder;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.AttentionTraits;
import roselle.model.spec.DistanceKinds;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;
import roselle.model.weights.WeightNames;

/**
 * DeBERTa from its second version on: BERT whose queries and keys also meet vectors of distances (He et al., 2021). The convolution of
 * the largest ones of the second version is refused.
 */
public final class DebertaV2 implements Architecture {
    private static final int MEETINGS = 3; // query with key, query with distance, key with distance

    @Override
    public Set<String> modelTypes() {
        return Set.of("deberta-v2");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of();
    }

    @Override
    public Blueprint read(ModelConfig config) {
        requireOn(config, "relative_attention");
        requireOn(config, "share_att_key");
        requireBoth(config);
        int taps = config.integer("conv_kernel_size", "", 0);
        if (taps != 0) {
            throw config.unsupported("conv_kernel_size", Integer.toString(taps), "0, no convolution");
        }
        Sizes sizes = Sizes.of(config);
        int embedding = config.integer("embedding_size", "", sizes.width());
        if (embedding != sizes.width()) {
            throw config.unsupported(
                    "embedding_size", Integer.toString(embedding), "the hidden size, " + sizes.width());
        }
        int head = config.integer("attention_head_size", "", sizes.headSize());
        if (head != sizes.headSize()) {
            throw config.unsupported("attention_head_size", Integer.toString(head), "" + sizes.headSize());
        }
        config.pass("legacy", "pooler_hidden_act", "pooler_hidden_size"); // of heads
        var builder = SpecBuilder.ofEncoder(config, sizes);
        builder.layerNorm(config, "layer_norm_eps", true);
        builder.learnedPositions = config.flag("position_biased_input", "", true);
        builder.types = config.integer("type_vocab_size", "", 0) == 0 ? 0 : config.size("type_vocab_size", "", 1 << 10);
        builder.scoreScale = (float) (1 / Math.sqrt((double) MEETINGS * sizes.headSize()));
        builder.traits = AttentionTraits.NONE.withDistances(kinds(config, sizes));
        builder.plain(config, "hidden_act", Activation.GELU, true);
        return new Blueprint(builder.spec(), names(config));
    }

    /** Queries meet distances and keys do; words in a list, or behind bars in one string. */
    private static void requireBoth(ModelConfig config) {
        List<String> named = config.has("pos_att_type", "") ? config.strings("pos_att_type") : List.of();
        String all = String.join("|", named).toLowerCase(Locale.ROOT).replace(" ", "");
        if (!Set.of("c2p|p2c", "p2c|c2p").contains(all)) {
            throw config.unsupported("pos_att_type", all.isEmpty() ? "nothing" : all, "p2c|c2p");
        }
    }

    private static void requireOn(ModelConfig config, String field) {
        if (!config.flag(field, "", false)) {
            throw config.unsupported(field, "false", "true");
        }
    }

    private static DistanceKinds kinds(ModelConfig config, Sizes sizes) {
        int farthest = config.integer("max_relative_positions", "", -1);
        farthest = farthest < 1 ? sizes.context() : farthest;
        int buckets = config.integer("position_buckets", "", -1);
        String norm = config.string("norm_rel_ebd", "", "none").strip().toLowerCase(Locale.ROOT);
        if (!norm.equals("none") && !norm.equals("layer_norm")) {
            throw config.unsupported("norm_rel_ebd", norm, "none or layer_norm");
        }
        int span = buckets > 0 ? buckets : farthest;
        if (span < 2 || span > 1 << 16 || (buckets > 0 && farthest - 1 <= span / 2)) {
            throw config.unsupported(
                    "position_buckets",
                    Integer.toString(buckets),
                    "fewer than the " + farthest + " distances, and more than one");
        }
        return new DistanceKinds(span, buckets > 0 ? farthest : 0, norm.equals("layer_norm"));
    }

    private static WeightNames names(ModelConfig config) {
        String prefix = config.hasTensor("deberta.embeddings.word_embeddings.weight") ? "deberta." : "";
        String layer = prefix + "encoder.layer.{layer}.";
        return Bert.names(config, "deberta.")
                .with(Map.of(
                        Part.DISTANCE_VECTORS, prefix + "encoder.rel_embeddings",
                        Part.DISTANCE_NORM, prefix + "encoder.LayerNorm",
                        Part.QUERY, layer + "attention.self.query_proj",
                        Part.KEY, layer + "attention.self.key_proj",
                        Part.VALUE, layer + "attention.self.value_proj"));
    }
}
