package roselle.model.architecture.llama;

import static java.util.Map.entry;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.model.config.Architecture;
import roselle.model.config.Mixture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.AttentionSpec.QueryKeyNorm;
import roselle.model.spec.FeedForwardSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;

/** Hunyuan, dense or with experts and a shared one: Llama whose queries and keys are normalised behind their rotation. */
public final class Hunyuan implements Architecture {
    private static final int MOST = 1 << 24;

    @Override
    public Set<String> modelTypes() {
        return Set.of("hunyuan_v1_dense", "hunyuan_v1_moe");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("hunyuan-dense", "hunyuan-moe");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        requireKnown(config);
        var builder = SpecBuilder.of(config, Sizes.of(config));
        builder.rmsNorm(config, 0f);
        builder.rope(config, 10_000, false);
        builder.queryKeyNorm = QueryKeyNorm.PER_HEAD;
        builder.traits = builder.traits.withNormsTurned();
        builder.projectionBias = config.flag("attention_bias", "", false);
        builder.attentionOutputBias = builder.projectionBias;
        builder.gated(config, "hidden_act", Activation.SILU, false);
        if (config.family().endsWith("moe")) {
            Arrays.fill(builder.feedForwards, experts(config, builder.sizes.inner()));
        }
        return new Blueprint(builder.spec(), Names.of(config, NAMES));
    }

    /** Experts with a softmax, whose weights are divided by their sum, and those that all tokens share as one. */
    private static FeedForwardSpec.Experts experts(ModelConfig config, int inner) {
        int size = same(config, "moe_intermediate_size", "expert_feed_forward_length", inner);
        int shared = config.isGguf()
                ? config.size("", "expert_shared_feed_forward_length", MOST, inner)
                        * config.size("", "expert_shared_count", MOST, 1)
                : inner * same(config, "num_shared_expert", "", 1);
        int experts = same(config, "num_experts", "expert_count", 1);
        int chosen = same(config, "moe_topk", "expert_used_count", 1);
        return Mixture.of(config, size, true, experts, chosen).withShared(shared, false);
    }

    /** A number that may be said for each layer, the same for all. */
    private static int same(ModelConfig config, String field, String key, int fallback) {
        if (!config.has(field, key)) {
            return fallback;
        }
        int[] all = config.integers(field, key);
        if (all.length == 0 || all[0] < 1 || all[0] > MOST || Arrays.stream(all).anyMatch(one -> one != all[0])) {
            throw config.unsupported(config.isGguf() ? key : field, Arrays.toString(all), "one number for all layers");
        }
        return all[0];
    }

    private static void requireKnown(ModelConfig config) {
        config.requireOff(
                "group_limited_greedy",
                "mlp_bias",
                "position_embedding_xdrope",
                "use_cla",
                "use_mla",
                "add_classification_head");
        config.requireOn("use_qk_norm", "use_rotary_pos_emb", "norm_topk_prob");
        config.requireWord("norm_type", "rms");
        config.pass(
                "attention_head_dim", "cla_share_factor", "class_num", "dense_list", "mask_init_id", "eod_token_id");
        config.pass(
                "moe_drop_tokens", "moe_layer_num_skipped", "moe_random_routing_dropped_token", "use_mixed_mlp_moe");
        config.pass(
                "num_media_embeds", "org_vocab_size", "pool_type", "skip_cls_token", "text_end_id", "text_start_id");
        config.pass("im_end_id", "im_newline_id", "im_start_id", "sep_token_id");
    }

    private static final Map<Part, String> NAMES = Map.ofEntries(
            entry(Part.QUERY_NORM, Names.layer("self_attn.query_layernorm")),
            entry(Part.KEY_NORM, Names.layer("self_attn.key_layernorm")),
            entry(Part.ROUTER, Names.layer("mlp.gate.wg")),
            entry(Part.SHARED_GATE, Names.layer("mlp.shared_mlp.gate_proj")),
            entry(Part.SHARED_UP, Names.layer("mlp.shared_mlp.up_proj")),
            entry(Part.SHARED_DOWN, Names.layer("mlp.shared_mlp.down_proj")));
}
