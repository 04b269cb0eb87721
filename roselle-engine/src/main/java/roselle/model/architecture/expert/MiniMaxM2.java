package roselle.model.architecture.expert;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import roselle.model.config.Architecture;
import roselle.model.config.Mixture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Ropes;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.AttentionSpec.QueryKeyNorm;
import roselle.model.spec.FeedForwardSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;

/** MiniMax M2: norms on all queries and all keys together, part of each head rotated, experts with sigmoids. */
public final class MiniMaxM2 implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("minimax_m2");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("minimax-m2");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        requireKnown(config);
        builder.rmsNorm(config, 0f);
        int headSize = builder.sizes.headSize();
        double share = (double) config.size("rotary_dim", "", headSize, headSize) / headSize;
        Arrays.fill(
                builder.ropes, new Ropes(config, headSize, builder.sizes.context(), 5_000_000, false, share).read());
        builder.queryKeyNorm = QueryKeyNorm.ALL_HEADS;
        FeedForwardSpec.Experts experts =
                Mixture.of(config, builder.sizes.inner(), true).withSigmoids(true, 1f);
        Arrays.fill(builder.feedForwards, experts);
        return new Blueprint(builder.spec(), config.isGguf() ? Names.gguf() : Mixtral.NAMES.with(NAMES));
    }

    private static final Map<Part, String> NAMES =
            Map.of(Part.ROUTER_CORRECTION, Names.layer("block_sparse_moe.e_score_correction_bias"));

    /** Refuses what configurations spell out and no published one has otherwise. */
    private static void requireKnown(ModelConfig config) {
        config.requireWord("scoring_func", "sigmoid");
        config.requireSigmoids();
        config.requireWord("qk_norm_type", "per_layer");
        config.requireOn("use_qk_norm", "use_routing_bias");
        if (config.integer("shared_intermediate_size", "", 0) != 0) {
            throw config.unsupported("shared_intermediate_size", "not 0", "0");
        }
        boolean hasTypes = config.has("attn_type_list", "");
        if (hasTypes && Arrays.stream(config.integers("attn_type_list")).anyMatch(type -> type != 1)) {
            throw config.unsupported("attn_type_list", "not 1 in each layer", "1 in each layer");
        }
        for (String half : List.of("full_attention", "linear_attention", "mlp")) {
            if (config.number("layernorm_" + half + "_beta", "", 1) != 1) {
                throw config.unsupported("layernorm_" + half + "_beta", "not 1", "1");
            }
        }
        config.pass("use_mtp", "num_mtp_modules", "mtp_transformer_layers"); // what predicts further tokens
        config.pass("shared_moe_mode", "mlp_intermediate_size"); // experts that are not there
        if (config.window("sliding_window", "") != 0) {
            throw config.unsupported("sliding_window", "not null", "null");
        }
    }
}
