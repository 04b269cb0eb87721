package roselle.model.architecture.expert;

import static java.util.Map.entry;
import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.AttentionSpec;
import roselle.model.spec.IndexSpec;
import roselle.model.spec.RopeSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;
import roselle.model.weights.WeightNames;

/**
 * DeepSeek V3.2: DeepSeek V3 whose layers attend to the positions that an index of small keys chooses; and GLM 5, where some layers
 * attend to what the one before them chose.
 */
public final class DeepseekV32 implements Architecture {
    private static final int MOST = 1 << 24;
    private static final Set<String> GLM = Set.of("glm_moe_dsa", "glm-dsa");

    @Override
    public Set<String> modelTypes() {
        return Set.of("deepseek_v32", "glm_moe_dsa");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("deepseek32", "glm-dsa");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        builder.rmsNorm(config, 0f);
        config.requireOff("attention_bias", "mlp_bias");
        config.pass("layer_types", "index_share_for_mtp_iteration");
        builder.gated(config, "hidden_act", Activation.SILU, false);
        DeepseekV3.behindDense(config, builder, DeepseekV3.experts(config));
        AttentionSpec.Latent latent = DeepseekV3.attention(config, builder);
        boolean[] choosing = choosing(config, builder.sizes.layers());
        var attentions = new AttentionSpec[choosing.length];
        for (int layer = 0; layer < attentions.length; layer++) {
            attentions[layer] = latent.with(index(config, requireNonNull(latent.rope()), choosing[layer]));
        }
        return new Blueprint(builder.spec(attentions), names(config));
    }

    private static IndexSpec index(ModelConfig config, RopeSpec rope, boolean isOwn) {
        // DeepSeek turns halves of the index's heads, whatever it does with those that attend
        boolean interleaved = config.flag("indexer_rope_interleave", "", GLM.contains(config.family()));
        return new IndexSpec(
                config.size("index_n_heads", "attention.indexer.head_count", MOST),
                config.size("index_head_dim", "attention.indexer.key_length", MOST),
                1,
                0,
                config.size("index_topk", "attention.indexer.top_k", MOST),
                new RopeSpec(rope.dimensions(), rope.theta(), interleaved, rope.scaling()),
                1e-6f,
                isOwn);
    }

    /** The layers that choose: as a list or a pattern says, or a schedule; in GGUF those with the tensors for it. */
    static boolean[] choosing(ModelConfig config, int layers) {
        var choosing = new boolean[layers];
        if (config.isGguf() && config.has("", "attention.indexer.types")) {
            config.flags("attention.indexer.types"); // as the tensors show
        }
        List<String> types = types(config);
        if (!types.isEmpty() && types.size() != layers) {
            throw config.unsupported("indexer_types", types.size() + " names", "one for each layer");
        }
        int every = Math.max(1, config.integer("index_topk_freq", "", 1));
        int first = config.integer("index_skip_topk_offset", "", 2);
        for (int layer = 0; layer < layers; layer++) {
            if (config.isGguf()) {
                choosing[layer] = config.hasTensor("blk." + layer + ".indexer.proj.weight");
            } else if (types.isEmpty()) {
                choosing[layer] = Math.max(layer - first + 1, 0) % every == 0;
            } else {
                choosing[layer] = isFull(config, types.get(layer));
            }
        }
        if (layers > 0 && !choosing[0]) {
            throw config.unsupported("indexer_types", "shared in the first layer", "full there");
        }
        return choosing;
    }

    private static List<String> types(ModelConfig config) {
        if (!config.isGguf() && config.has("indexer_types", "")) {
            config.pass("index_topk_pattern");
            return config.strings("indexer_types");
        }
        String pattern = config.string("index_topk_pattern", "", "");
        return pattern.chars().mapToObj(Character::toString).toList();
    }

    private static boolean isFull(ModelConfig config, String type) {
        return switch (type) {
            case "full", "F" -> true;
            case "shared", "S" -> false;
            default -> throw config.unsupported("indexer_types", type, "full or shared");
        };
    }

    private static WeightNames names(ModelConfig config) {
        return config.isGguf() ? Names.gguf() : DeepseekV3.names(config).with(NAMES);
    }

    static final Map<Part, String> NAMES = Map.ofEntries(
            entry(Part.INDEX_QUERY, Names.layer("self_attn.indexer.wq_b")),
            entry(Part.INDEX_KEY, Names.layer("self_attn.indexer.wk")),
            entry(Part.INDEX_KEY_NORM, Names.layer("self_attn.indexer.k_norm")),
            entry(Part.INDEX_WEIGHT, Names.layer("self_attn.indexer.weights_proj")));
}
