package roselle.model.architecture.hybrid;

import static java.util.Map.entry;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.backend.operation.Gate;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.AttentionSpec;
import roselle.model.spec.AttentionSpec.QueryKeyNorm;
import roselle.model.spec.FeedForwardSpec;
import roselle.model.spec.OutputSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;

/** LFM 2: gated short convolutions, and some layers that attend. */
public final class Lfm2 implements Architecture {
    private static final int MOST = 1 << 24;

    @Override
    public Set<String> modelTypes() {
        return Set.of("lfm2");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("lfm2");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        requireKnown(config);
        SpecBuilder builder = builder(config);
        Arrays.fill(
                builder.feedForwards,
                new FeedForwardSpec.Gated(inner(config, builder.sizes), Gate.of(Activation.SILU), false));
        return new Blueprint(
                builder.spec(attentions(config, builder)),
                config.isGguf()
                        ? Names.gguf().with(GGUF_NAMES)
                        : Names.huggingFace().with(NAMES));
    }

    /** What this family and that with experts have in common, but for their feed-forwards. */
    static SpecBuilder builder(ModelConfig config) {
        var builder = SpecBuilder.of(config, config.isGguf() ? Sizes.of(config, keyHeads(config)) : Sizes.of(config));
        builder.rmsNorm(config.number("norm_eps", "attention.layer_norm_rms_epsilon", 1e-5));
        builder.rope(config, 1_000_000, false);
        builder.queryKeyNorm = QueryKeyNorm.PER_HEAD;
        boolean isTied = config.flag("tie_embedding", "", SpecBuilder.isTied(config, true));
        builder.output = new OutputSpec(isTied, false, 1f, 0f);
        return builder;
    }

    /** Short convolutions, and heads in some layers. */
    static AttentionSpec[] attentions(ModelConfig config, SpecBuilder builder) {
        AttentionSpec[] attentions = builder.attentions();
        boolean[] convolve = layers(config, builder);
        var convolution = new AttentionSpec.ShortConvolution(
                config.size("conv_L_cache", "shortconv.l_cache", AttentionSpec.MAX_TAPS, 3),
                config.flag("conv_bias", "", false));
        for (int layer = 0; layer < attentions.length; layer++) {
            attentions[layer] = convolve[layer] ? convolution : attentions[layer];
        }
        return attentions;
    }

    static final Map<Part, String> NAMES = Map.ofEntries(
            entry(Part.FINAL_NORM, "model.embedding_norm"),
            entry(Part.ATTENTION_NORM, Names.layer("operator_norm")),
            entry(Part.FEED_FORWARD_NORM, Names.layer("ffn_norm")),
            entry(Part.ATTENTION_OUTPUT, Names.layer("self_attn.out_proj")),
            entry(Part.QUERY_NORM, Names.layer("self_attn.q_layernorm")),
            entry(Part.KEY_NORM, Names.layer("self_attn.k_layernorm")),
            entry(Part.CONVOLUTION, Names.layer("conv.conv")),
            entry(Part.CONVOLUTION_INPUT, Names.layer("conv.in_proj")),
            entry(Part.CONVOLUTION_OUTPUT, Names.layer("conv.out_proj")),
            entry(Part.GATE, Names.layer("feed_forward.w1")),
            entry(Part.UP, Names.layer("feed_forward.w3")),
            entry(Part.DOWN, Names.layer("feed_forward.w2")));

    private static final String KEY_HEADS = "attention.head_count_kv";
    static final Map<Part, String> GGUF_NAMES = Map.of(
            Part.FINAL_NORM, "token_embd_norm",
            Part.CONVOLUTION, "blk.{layer}.shortconv.conv",
            Part.CONVOLUTION_INPUT, "blk.{layer}.shortconv.in_proj",
            Part.CONVOLUTION_OUTPUT, "blk.{layer}.shortconv.out_proj");

    /** The key heads of the layers that attend; a GGUF has 0 for the others. */
    static int keyHeads(ModelConfig config) {
        int[] all = Arrays.stream(config.integers("", KEY_HEADS))
                .filter(count -> count != 0)
                .distinct()
                .toArray();
        if (all.length != 1 || all[0] < 1) {
            throw config.unsupported(KEY_HEADS, Arrays.toString(all), "one number of heads, or none, for each layer");
        }
        return all[0];
    }

    /** Layers that convolve: those that are named, or all but those with a number that attends. */
    private static boolean[] layers(ModelConfig config, SpecBuilder builder) {
        if (!config.isGguf() && !config.has("layer_types", "") && config.has("full_attn_idxs", "")) {
            int[] attend = config.integers("full_attn_idxs");
            return builder.layersOf(
                    config, "conv", layer -> Arrays.stream(attend).noneMatch(one -> one == layer));
        }
        if (config.isGguf()) {
            int[] keyHeads = config.integers("", KEY_HEADS);
            return builder.layersOf(config, "conv", layer -> layer < keyHeads.length && keyHeads[layer] == 0);
        }
        config.has("full_attn_idxs", "");
        return builder.layersOf(config, "conv", _ -> false);
    }

    /** The feed-forward's size: two thirds of what is said, in whole multiples, where the configuration wants that. */
    private static int inner(ModelConfig config, Sizes sizes) {
        int said = config.size("block_ff_dim", "", MOST, sizes.inner());
        boolean adjusts = config.flag("block_auto_adjust_ff_dim", "", true);
        double factor = config.number("block_ffn_dim_multiplier", "", 1);
        int multiple = config.size("block_multiple_of", "", MOST, 256);
        if (config.isGguf() || !adjusts) {
            return said;
        }
        int twoThirds = 2 * said / 3;
        int size = (int) (factor * twoThirds);
        return (size + multiple - 1) / multiple * multiple;
    }

    /** Refuses what older configurations could say and no published one does; how weights were drawn means nothing. */
    private static void requireKnown(ModelConfig config) {
        config.pass("block_mlp_init_scale", "block_out_init_scale", "block_use_xavier_init", "conv_use_xavier_init");
        config.pass("block_norm_eps");
        config.requireOn("block_use_swiglu", "use_pos_enc");
        for (String width : new String[] {"block_dim", "conv_dim", "conv_dim_out"}) {
            int hidden = config.integer("hidden_size", "", 0);
            if (config.integer(width, "", hidden) != hidden) {
                throw config.unsupported(width, Integer.toString(config.integer(width, "", 0)), "hidden_size");
            }
        }
        int heads = config.integer("num_attention_heads", "", 0);
        if (config.integer("num_heads", "", heads) != heads) {
            throw config.unsupported("num_heads", "another number", "num_attention_heads");
        }
    }
}
