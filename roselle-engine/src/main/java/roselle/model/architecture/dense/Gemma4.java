package roselle.model.architecture.dense;

import static java.util.Map.entry;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import roselle.api.CheckpointException;
import roselle.backend.operation.Activation;
import roselle.backend.operation.Gate;
import roselle.backend.operation.HeadShape;
import roselle.backend.operation.Router;
import roselle.checkpoint.Metadata;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Ropes;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.AttentionSpec;
import roselle.model.spec.AttentionSpec.QueryKeyNorm;
import roselle.model.spec.BlockSpec;
import roselle.model.spec.FeedForwardSpec;
import roselle.model.spec.LayerInputs;
import roselle.model.spec.OutputSpec;
import roselle.model.spec.RopeScaling;
import roselle.model.spec.RopeSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;
import roselle.model.weights.WeightNames;

/**
 * Gemma 4, text only: Gemma 3 with normalised values, heads of another size in layers that see everything, and a scale for each
 * layer; the small ones tell each layer something of each token and share keys and values between layers, the large ones take keys
 * as values, and one has experts beside its feed-forward.
 */
public final class Gemma4 implements Architecture {
    private static final int MOST = 1 << 24;
    private static final double FULL_THETA = 1_000_000;
    private static final double WINDOW_THETA = 10_000;
    private static final double FULL_SHARE = 0.25;
    private static final int FULL_HEAD = 512;
    private static final Set<String> TEXTS = Set.of("gemma4_text", "gemma4_unified_text");
    private static final int MOST_TOLD = 1 << 20;
    private static final String INNER = "feed_forward_length";
    private static final String KEY_HEADS = "attention.head_count_kv";

    @Override
    public Set<String> modelTypes() {
        return Set.of("gemma4", "gemma4_text", "gemma4_unified");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("gemma4");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        ModelConfig text = config.text();
        config.pass("vision_config", "audio_config", "eoa_token_index");
        if (!config.isGguf() && !TEXTS.contains(text.family())) {
            throw config.unsupported("text_config", text == config ? "absent" : text.family(), "gemma4_text");
        }
        int[] inner = text.sizes("intermediate_size", "feed_forward_length", Sizes.MAX_NUMBERS);
        int[] keyHeads = text.integers("num_key_value_heads", KEY_HEADS);
        var sizes = Sizes.of(text, ofLayer(text, KEY_HEADS, keyHeads, 0), ofLayer(text, INNER, inner, 0));
        SpecBuilder builder = builder(text, sizes);
        float softCap = (float) text.number("final_logit_softcapping", "final_logit_softcapping", 0);
        boolean isTied = SpecBuilder.isTied(config, SpecBuilder.isTied(text, true));
        builder.output = new OutputSpec(isTied, false, 1f, softCap);
        int sharing = text.sizeOrNone("num_kv_shared_layers", "attention.shared_kv_layers", sizes.layers() - 1);
        int firstSharing = sizes.layers() - sharing;
        feedForwards(text, builder, inner, firstSharing);
        AttentionSpec[] attentions = new Heads(text, builder, keyHeads).attentions(firstSharing);
        return new Blueprint(builder.spec(attentions), names(config));
    }

    private static SpecBuilder builder(ModelConfig text, Sizes sizes) {
        text.requireOff("attention_bias");
        var builder = SpecBuilder.of(text, sizes);
        builder.rmsNorm(text, 0f);
        boolean scales = !text.isGguf() || text.hasTensor("blk.0.layer_output_scale.weight");
        builder.block = BlockSpec.normedOnBothSides(scales);
        builder.embeddingScale = (float) Math.sqrt(sizes.width());
        int window = text.size("sliding_window", "attention.sliding_window", 1 << 30);
        builder.windows(text, window, layer -> (layer + 1) % 6 != 0);
        if (!text.isGguf()) {
            builder.windows[sizes.layers() - 1] = 0; // whatever is said, as transformers has it
        }
        builder.layerInputs = layerInputs(text, sizes, activation(text));
        return builder;
    }

    private static Activation activation(ModelConfig text) {
        return text.activation("hidden_activation", Activation.GELU_TANH);
    }

    private static @Nullable LayerInputs layerInputs(ModelConfig text, Sizes sizes, Activation activation) {
        int size = text.sizeOrNone("hidden_size_per_layer_input", "embedding_length_per_layer_input", MOST_TOLD);
        int tokens = text.integer("vocab_size_per_layer_input", "", sizes.vocabulary());
        if (size != 0 && tokens != sizes.vocabulary()) {
            throw text.unsupported("vocab_size_per_layer_input", Integer.toString(tokens), "vocab_size");
        }
        return size == 0 ? null : new LayerInputs(size, sizes.vocabulary(), activation);
    }

    /** Gates; wider ones where keys are shared, and with experts beside them, where the configuration says so. */
    private static void feedForwards(ModelConfig text, SpecBuilder builder, int[] inner, int firstSharing) {
        boolean widens = text.flag("use_double_wide_mlp", "", false);
        boolean hasExperts = text.flag("enable_moe_block", "", text.integer("", "expert_count", 0) > 0);
        text.pass("num_experts", "top_k_experts", "moe_intermediate_size");
        for (int layer = 0; layer < builder.feedForwards.length; layer++) {
            int size = ofLayer(text, INNER, inner, layer);
            int wide = widens && layer >= firstSharing ? 2 * size : size;
            var dense = new FeedForwardSpec.Gated(wide, Gate.of(activation(text)), false);
            builder.feedForwards[layer] =
                    hasExperts ? new FeedForwardSpec.Beside(dense, experts(text, dense.gate())) : dense;
        }
    }

    private static FeedForwardSpec.Experts experts(ModelConfig text, Gate gate) {
        int experts = text.size("num_experts", "expert_count", MOST);
        int chosen = text.size("top_k_experts", "expert_used_count", experts);
        int size = text.size("moe_intermediate_size", "expert_feed_forward_length", MOST);
        return new FeedForwardSpec.Experts(
                experts, chosen, size, gate, Router.Scoring.SOFTMAX, true, 1, 1, false, 1f, false, 0, false);
    }

    /** A size of a layer, where one is said for all, or one for each. */
    private static int ofLayer(ModelConfig text, String field, int[] ofLayers, int layer) {
        int index = ofLayers.length == 1 ? 0 : layer;
        if (index >= ofLayers.length || ofLayers[index] < 1 || ofLayers[index] > MOST) {
            throw text.unsupported(field, Arrays.toString(ofLayers), "a number for all layers or one for each");
        }
        return ofLayers[index];
    }

    /** The heads of each layer: those that see everything have sizes and rotations of their own. */
    private static final class Heads {
        private final ModelConfig text;
        private final SpecBuilder builder;
        private final int[] keyHeads;
        private final int[] sizes;

        Heads(ModelConfig text, SpecBuilder builder, int[] keyHeadsSaid) {
            this.text = text;
            this.builder = builder;
            int layers = builder.windows.length;
            keyHeads = new int[layers];
            sizes = new int[layers];
            int sliding = text.isGguf()
                    ? text.size("", "attention.key_length_swa", MOST, builder.sizes.headSize())
                    : builder.sizes.headSize();
            text.has("", "attention.value_length_swa");
            int full = text.size("global_head_dim", "", MOST, FULL_HEAD);
            full = text.isGguf() ? builder.sizes.headSize() : full;
            boolean ownHeads = text.flag("attention_k_eq_v", "", false) && text.has("num_global_key_value_heads", "");
            for (int layer = 0; layer < layers; layer++) {
                boolean slides = builder.windows[layer] != 0;
                sizes[layer] = slides ? sliding : full;
                keyHeads[layer] = ofLayer(text, KEY_HEADS, keyHeadsSaid, layer);
                if (ownHeads && !slides) {
                    keyHeads[layer] = text.size("num_global_key_value_heads", "", MOST);
                }
            }
            text.pass("num_global_key_value_heads");
            text.object("per_layer_config").ifPresent(this::override);
        }

        /** What transformers 5 writes in the place of the sizes of full layers. */
        private void override(Metadata layers) {
            for (String key : layers.keys()) {
                Metadata fields = layers.object(key)
                        .orElseThrow(() -> text.unsupported("per_layer_config", key + " without fields", "sizes"));
                int layer = key.matches("\\d{1,6}") ? Integer.parseInt(key) : -1;
                boolean isKnown = Set.of("head_dim", "num_key_value_heads").containsAll(fields.keys());
                if (layer < 0 || layer >= sizes.length || !isKnown) {
                    throw new CheckpointException(fields.origin() + " says " + fields.keys() + " of layer " + key
                            + "; supported are head_dim and num_key_value_heads of layers 0 to " + (sizes.length - 1));
                }
                sizes[layer] = fields.integer("head_dim", sizes[layer]);
                keyHeads[layer] = fields.integer("num_key_value_heads", keyHeads[layer]);
            }
        }

        AttentionSpec[] attentions(int firstSharing) {
            boolean keysAreValues = text.flag("attention_k_eq_v", "", false);
            var attentions = new AttentionSpec[sizes.length];
            for (int layer = 0; layer < attentions.length; layer++) {
                boolean isFull = builder.windows[layer] == 0;
                boolean isKey = text.isGguf()
                        ? layer < firstSharing && !text.hasTensor("blk." + layer + ".attn_v.weight")
                        : isFull && keysAreValues;
                var own = new AttentionSpec.MultiHead(
                        new HeadShape(builder.sizes.heads(), keyHeads[layer], sizes[layer], sizes[layer]),
                        builder.windows[layer],
                        rope(layer),
                        QueryKeyNorm.PER_HEAD,
                        false,
                        false,
                        1f,
                        0f,
                        false,
                        false,
                        false,
                        isKey ? AttentionSpec.Value.NORMED_KEY : AttentionSpec.Value.NORMED);
                attentions[layer] = layer < firstSharing
                        ? own
                        : new AttentionSpec.SharedKeys(own, Gemma3n.source(text, builder, layer, firstSharing));
            }
            return attentions;
        }

        private RopeSpec rope(int layer) {
            boolean isFull = builder.windows[layer] == 0;
            double theta = isFull ? FULL_THETA : WINDOW_THETA;
            var ropes = new Ropes(text, sizes[layer], builder.sizes.context(), theta, false);
            if (text.isGguf()) {
                return isFull ? ropes.read() : slidingOfGguf(layer);
            }
            if (text.object("rope_parameters").isPresent()) {
                return ropes.read(isFull ? "full_attention" : "sliding_attention");
            }
            var share = new RopeScaling.Proportional(FULL_SHARE, 1);
            return isFull ? new RopeSpec(sizes[layer], theta, false, share) : ropes.plain(theta, 1);
        }

        private RopeSpec slidingOfGguf(int layer) {
            int dimensions = text.integer("", "rope.dimension_count_swa", sizes[layer]);
            if (dimensions > sizes[layer]) {
                throw text.unsupported("rope.dimension_count_swa", Integer.toString(dimensions), "a part of a head");
            }
            double theta = text.number("", "rope.freq_base_swa", WINDOW_THETA);
            return new RopeSpec(dimensions, theta, false, new RopeScaling.None());
        }
    }

    private static WeightNames names(ModelConfig config) {
        return config.isGguf()
                ? Names.gguf().with(Gemma3n.GGUF_LAYER_INPUTS).with(GGUF_NAMES)
                : Names.wrapped(
                        config,
                        Names.huggingFace()
                                .with(Gemma2.NAMES)
                                .with(Gemma3n.LAYER_INPUTS)
                                .with(NAMES));
    }

    private static final Map<Part, String> NAMES = Map.ofEntries(
            entry(Part.LAYER_SCALE, Names.layer("layer_scalar")),
            entry(Part.ROUTER, Names.layer("router.proj")),
            entry(Part.ROUTER_NORM, Names.layer("router.scale")),
            entry(Part.EXPERT_SCALE, Names.layer("router.per_expert_scale")),
            entry(Part.EXPERT_GATE_UP, Names.layer("experts.gate_up_proj")),
            entry(Part.EXPERT_DOWN, Names.layer("experts.down_proj")),
            entry(Part.POST_DENSE_NORM, Names.layer("post_feedforward_layernorm_1")),
            entry(Part.PRE_EXPERTS_NORM, Names.layer("pre_feedforward_layernorm_2")),
            entry(Part.POST_EXPERTS_NORM, Names.layer("post_feedforward_layernorm_2")));

    private static final Map<Part, String> GGUF_NAMES = Map.ofEntries(
            entry(Part.LAYER_SCALE, "blk.{layer}.layer_output_scale"),
            entry(Part.ROUTER_NORM, "blk.{layer}.ffn_gate_inp.scale"),
            entry(Part.EXPERT_SCALE, "blk.{layer}.ffn_down_exps.scale"),
            entry(Part.POST_DENSE_NORM, "blk.{layer}.post_ffw_norm_1"),
            entry(Part.PRE_EXPERTS_NORM, "blk.{layer}.pre_ffw_norm_2"),
            entry(Part.POST_EXPERTS_NORM, "blk.{layer}.post_ffw_norm_2"));
}
