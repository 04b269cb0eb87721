package roselle.model.architecture.expert;

import static java.util.Map.entry;
import static java.util.Objects.requireNonNull;

import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.backend.operation.Connection;
import roselle.backend.operation.Gate;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.AttentionSpec;
import roselle.model.spec.BlockSpec;
import roselle.model.spec.FeedForwardSpec;
import roselle.model.spec.HyperConnections;
import roselle.model.spec.IndexSpec;
import roselle.model.spec.LatentGates;
import roselle.model.spec.RopeSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;
import roselle.model.weights.WeightNames;

/**
 * Hunyuan 4: DeepSeek V3.2 with gates and sinks of its heads, four residual streams that go on as themselves, and a bound of what gates
 * of experts take.
 */
public final class HyV4 implements Architecture {
    private static final int MOST = 1 << 24;

    @Override
    public Set<String> modelTypes() {
        return Set.of("hy_v4");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("hy_v4");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        builder.rmsNorm(config, 0f, 1e-5);
        config.requireOff("attention_bias", "mlp_bias");
        config.pass("layer_types", "learnable_sink_init", "enable_lm_head_fp32");
        builder.gated(config, "hidden_act", Activation.SILU, false);
        builder.block = BlockSpec.connected(connections(config));
        DeepseekV3.behindDense(config, builder, experts(config));
        return new Blueprint(builder.spec(attentions(config, builder)), names(config));
    }

    private static HyperConnections connections(ModelConfig config) {
        float epsilon = (float) config.number("hc_eps", "hyper_connection.epsilon", 1e-6);
        float magnitude = (float) config.number("hc_magnitude", "hyper_connection.magnitude", 2);
        int streams = config.size("hc_mult", "hyper_connection.count", MOST, 4);
        return new HyperConnections(streams, 0, epsilon, new Connection.Taken(magnitude, epsilon));
    }

    /** Neighbours turn together in GGUF, halves in the other format, whose rows are the same: so transformers and llama.cpp have it. */
    private static AttentionSpec[] attentions(ModelConfig config, SpecBuilder builder) {
        if (!config.isGguf() && !config.has("indexer_types", "")) {
            throw config.unsupported("indexer_types", "nothing", "full or shared for each layer");
        }
        AttentionSpec.Latent latent =
                DeepseekV3.attention(config, builder, config.isGguf()).with(true, LatentGates.OF_NUMBERS);
        boolean[] choosing = DeepseekV32.choosing(config, builder.sizes.layers());
        var attentions = new AttentionSpec[choosing.length];
        for (int layer = 0; layer < attentions.length; layer++) {
            attentions[layer] = latent.with(index(config, requireNonNull(latent.rope()), choosing[layer]));
        }
        return attentions;
    }

    private static IndexSpec index(ModelConfig config, RopeSpec rope, boolean isOwn) {
        return new IndexSpec(
                config.size("index_n_heads", "attention.indexer.head_count", MOST),
                config.size("index_head_dim", "attention.indexer.key_length", MOST),
                1,
                0,
                config.size("index_topk", "attention.indexer.top_k", MOST),
                rope,
                (float) config.number("rms_norm_eps", "attention.layer_norm_rms_epsilon", 1e-5),
                isOwn,
                true);
    }

    /** Of which those that are chosen have a bound, not the one that all share. */
    private static FeedForwardSpec.Experts experts(ModelConfig config) {
        FeedForwardSpec.Experts plain = DeepseekV3.experts(config);
        float limit = limit(config);
        Gate bounded = limit > 0 ? new Gate(plain.gate().activation(), limit, 0f) : plain.gate();
        return plain.with(bounded).with(FeedForwardSpec.Experts.Traits.NONE.withSharedGating(plain.gate()));
    }

    /** GGUF has it for each layer, the same for all, and none where there is none. */
    private static float limit(ModelConfig config) {
        if (!config.isGguf()) {
            return (float) config.number("swiglu_limit", "", 10);
        }
        float[] limits = config.has("", LIMITS) ? config.numbers("", LIMITS) : new float[1];
        for (float one : limits) {
            if (one != limits[0]) {
                throw config.unsupported(LIMITS, Float.toString(one), limits[0] + " in all layers");
            }
        }
        return limits[0];
    }

    private static final String LIMITS = "swiglu_clamp_exp";

    private static WeightNames names(ModelConfig config) {
        return config.isGguf()
                ? Names.gguf().with(DeepseekV4.GGUF_CONNECTIONS)
                : DeepseekV3.names(config).with(DeepseekV32.NAMES).with(NAMES);
    }

    private static final String ATTENTION = Names.layer("hc_attn_layer.hc_pre.");
    private static final String FEED_FORWARD = Names.layer("hc_mlp_layer.hc_pre.");
    private static final Map<Part, String> NAMES = Map.ofEntries(
            entry(Part.SINKS, Names.layer("self_attn.learnable_sink_param")),
            entry(Part.ATTENTION_GATE, Names.layer("self_attn.linear_gate")),
            entry(Part.ATTENTION_CONNECTION, ATTENTION + "hc_fn"),
            entry(Part.ATTENTION_CONNECTION_BIAS, ATTENTION + "hc_base"),
            entry(Part.ATTENTION_CONNECTION_SCALE, ATTENTION + "hc_scale"),
            entry(Part.FEED_FORWARD_CONNECTION, FEED_FORWARD + "hc_fn"),
            entry(Part.FEED_FORWARD_CONNECTION_BIAS, FEED_FORWARD + "hc_base"),
            entry(Part.FEED_FORWARD_CONNECTION_SCALE, FEED_FORWARD + "hc_scale"),
            entry(Part.OUTPUT_CONNECTION, "model.hc_head.hc_head_fn"),
            entry(Part.OUTPUT_CONNECTION_BIAS, "model.hc_head.hc_head_base"),
            entry(Part.OUTPUT_CONNECTION_SCALE, "model.hc_head.hc_head_scale"));
}
