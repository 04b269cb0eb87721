package roselle.model.architecture.expert;

import java.util.List;
import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.backend.operation.HeadShape;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Ropes;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.AttentionSpec;
import roselle.model.spec.AttentionSpec.QueryKeyNorm;
import roselle.model.spec.RopeSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;

/** MiMo V2: windows with sinks beside layers that see everything, values shorter than keys and scaled, experts with sigmoids. */
public final class MiMoV2 implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("mimo_v2_flash");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of();
    }

    @Override
    public Blueprint read(ModelConfig config) {
        Sizes sizes = config.isGguf() ? Sizes.of(config, keyHeads(config)[0]) : Sizes.of(config);
        var builder = SpecBuilder.of(config, sizes);
        config.requireOff("attention_bias");
        builder.rmsNorm(config, 0f);
        builder.gated(config, "hidden_act", Activation.SILU, false);
        DeepseekV3.behindDense(config, builder, DeepseekV3.experts(config));
        if (config.has("layernorm_epsilon", "")) {
            builder.rmsNorm(config.number("layernorm_epsilon", ""));
        }
        windows(config, builder);
        turn(config, builder);
        float scale =
                (float) config.number("attention_value_scale", "attention.value_scale", config.isGguf() ? 1 : 0.707);
        builder.traits = builder.traits.withOutputScale(scale);
        int valueSize = config.size("v_head_dim", "attention.value_length", AttentionSpec.MAX_HEAD_SIZE);
        AttentionSpec.MultiHead[] heads = builder.heads();
        for (int layer = 0; layer < heads.length; layer++) {
            boolean hasSinks = config.isGguf()
                    ? config.hasTensor("blk." + layer + ".attn_sinks.weight")
                    : config.hasTensor(SINKS.replace("{layer}", Integer.toString(layer)));
            int own = keyHeads(config, sizes, layer, builder.windows[layer] != 0);
            heads[layer] = heads[layer]
                    .with(QueryKeyNorm.NONE, hasSinks)
                    .with(new HeadShape(sizes.heads(), own, sizes.headSize(), valueSize));
        }
        return new Blueprint(
                builder.spec(heads),
                config.isGguf() ? Names.gguf() : DeepseekV3.names(config).with(NAMES));
    }

    private static final double TURNING = 0.334; // of a head, where a configuration does not say it

    private static int[] keyHeads(ModelConfig config) {
        return config.integers("", "attention.head_count_kv");
    }

    /** Heads of keys in a layer: those that slide have twice as many, where nothing else is said. */
    private static int keyHeads(ModelConfig config, Sizes sizes, int layer, boolean slides) {
        if (config.isGguf()) {
            int[] all = keyHeads(config);
            return all[all.length == 1 ? 0 : layer];
        }
        int sliding = config.size("swa_num_key_value_heads", "", 1 << 16, 2 * sizes.keyHeads());
        return slides ? sliding : sizes.keyHeads();
    }

    /** Which layers slide, by their names, or in published configurations by a list of flags. */
    private static void windows(ModelConfig config, SpecBuilder builder) {
        int window = config.size("sliding_window", "attention.sliding_window", 1 << 30);
        int[] pattern = !config.isGguf() && config.has("hybrid_layer_pattern", "")
                ? config.integers("hybrid_layer_pattern")
                : new int[0];
        config.pass("sliding_window_size", "attention_chunk_size", "hybrid_block_size");
        config.pass("add_swa_attention_sink_bias", "add_full_attention_sink_bias"); // which tensors show
        for (String size : List.of("swa_num_attention_heads", "swa_head_dim", "swa_v_head_dim")) {
            String own = size.substring("swa_".length());
            if (config.has(size, "") && config.integer(size, "") != config.integer(own, "")) {
                throw config.unsupported(size, Integer.toString(config.integer(size, "")), own);
            }
        }
        builder.windows(
                config,
                window,
                layer -> layer < pattern.length ? pattern[layer] == 1 : layer != 0 && (layer + 1) % 6 != 0);
    }

    /** Rotations of two kinds. */
    private static void turn(ModelConfig config, SpecBuilder builder) {
        int size = builder.sizes.headSize();
        for (int layer = 0; layer < builder.ropes.length; layer++) {
            boolean slides = builder.windows[layer] != 0;
            double theta = slides ? 10_000 : 5_000_000;
            var ropes = new Ropes(config, size, builder.sizes.context(), theta, false, TURNING);
            if (config.isGguf()) {
                RopeSpec full = ropes.read();
                double base = slides ? config.number("", "rope.freq_base_swa", full.theta()) : full.theta();
                builder.ropes[layer] = new RopeSpec(full.dimensions(), base, false, full.scaling());
            } else {
                builder.ropes[layer] = config.object("rope_parameters").isPresent()
                        ? ropes.read(slides ? "sliding_attention" : "full_attention")
                        : ropes.plain(
                                config.number(slides ? "swa_rope_theta" : "rope_theta", "", theta),
                                config.number("partial_rotary_factor", "", TURNING));
            }
        }
    }

    private static final String SINKS = Names.layer("self_attn.attention_sink_bias");
    private static final Map<Part, String> NAMES = Map.of(Part.SINKS, SINKS);
}
