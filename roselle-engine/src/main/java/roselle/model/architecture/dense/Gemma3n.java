package roselle.model.architecture.dense;

import static java.util.Map.entry;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.backend.operation.Gate;
import roselle.backend.operation.HeadShape;
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
import roselle.model.spec.RopeSpec;
import roselle.model.spec.Streams;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;
import roselle.model.weights.WeightNames;

/**
 * Gemma 3n, text only: four streams side by side, two narrow products beside attention, feed-forwards that leave out most of their
 * inner numbers, inputs of layers, and keys and values of other layers.
 */
public final class Gemma3n implements Architecture {
    private static final int MOST = 1 << 24;
    private static final int MOST_TOLD = 1 << 20;
    private static final int PATTERN = 5;
    private static final double FULL_THETA = 1_000_000;
    private static final double WINDOW_THETA = 10_000;
    private static final String SPARSITY = "activation_sparsity_scale";

    @Override
    public Set<String> modelTypes() {
        return Set.of("gemma3n", "gemma3n_text");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("gemma3n");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        ModelConfig text = config.text();
        config.pass("vision_config", "audio_config", "audio_soft_tokens_per_image", "vision_soft_tokens_per_image");
        if (!config.isGguf() && !text.family().equals("gemma3n_text")) {
            throw config.unsupported("text_config", text == config ? "absent" : text.family(), "gemma3n_text");
        }
        int[] inner = text.sizes("intermediate_size", "feed_forward_length", Sizes.MAX_NUMBERS);
        Sizes sizes = Sizes.of(text, text.integer("num_key_value_heads", "attention.head_count_kv"), inner[0]);
        SpecBuilder builder = builder(text, sizes);
        float softCap = (float) text.number("final_logit_softcapping", "final_logit_softcapping", 30);
        boolean isTied = SpecBuilder.isTied(config, SpecBuilder.isTied(text, true));
        builder.output = new OutputSpec(isTied, false, 1f, softCap);
        feedForwards(text, builder, inner);
        return new Blueprint(builder.spec(attentions(text, builder)), names(config));
    }

    private static SpecBuilder builder(ModelConfig text, Sizes sizes) {
        text.requireOff("attention_bias");
        text.pass("altup_coef_clip"); // of training
        if (text.integer("altup_active_idx", "altup.active_idx", 0) != 0) {
            throw text.unsupported("altup_active_idx", "not 0", "0");
        }
        var builder = SpecBuilder.of(text, sizes);
        builder.rmsNorm(text, 0f);
        builder.embeddingScale = (float) Math.sqrt(sizes.width());
        int rank = text.isGguf() ? text.extent("blk.0.laurel_l.weight", 0) : text.size("laurel_rank", "", MOST);
        boolean scales = text.flagOrTensor("altup_correct_scale", "blk.0.altup_correct_scale.weight", true);
        builder.block =
                BlockSpec.ofStreams(new Streams(text.integer("altup_num_inputs", "altup.num_inputs", 4), rank, scales));
        int size = text.size("hidden_size_per_layer_input", "embedding_length_per_layer_input", MOST_TOLD);
        int tokens = text.size("vocab_size_per_layer_input", "", MOST, sizes.vocabulary());
        builder.layerInputs = new LayerInputs(size, Math.min(tokens, sizes.vocabulary()), activation(text));
        int window = text.size("sliding_window", "attention.sliding_window", 1 << 30);
        builder.windows(text, window, layer -> (layer + 1) % PATTERN != 0);
        return builder;
    }

    private static Activation activation(ModelConfig text) {
        return text.activation("hidden_activation", Activation.GELU_TANH);
    }

    private static void feedForwards(ModelConfig text, SpecBuilder builder, int[] inner) {
        int layers = builder.feedForwards.length;
        float[] deviations = deviations(text, layers);
        if (deviations.length != layers) {
            throw text.unsupported("activation_sparsity_pattern", deviations.length + " numbers", "one for each layer");
        }
        for (int layer = 0; layer < layers; layer++) {
            int size = inner[inner.length == 1 ? 0 : layer];
            builder.feedForwards[layer] =
                    new FeedForwardSpec.Gated(size, Gate.of(activation(text)), false, false, deviations[layer]);
        }
    }

    /** How far above the mean of a layer's gates one must lie to count; config.json says which part does not. */
    private static float[] deviations(ModelConfig text, int layers) {
        if (text.isGguf()) {
            var all = new float[layers];
            Arrays.fill(all, FeedForwardSpec.Gated.ALL);
            return text.has("", SPARSITY) ? text.metadata().numbers("gemma3n." + SPARSITY) : all;
        }
        float[] shares = text.numbers("activation_sparsity_pattern");
        var deviations = new float[shares.length];
        for (int layer = 0; layer < shares.length; layer++) {
            if (!(shares[layer] >= 0 && shares[layer] < 1)) {
                throw text.unsupported("activation_sparsity_pattern", Float.toString(shares[layer]), "0 to below 1");
            }
            deviations[layer] = shares[layer] == 0 ? FeedForwardSpec.Gated.ALL : (float) quantile(shares[layer]);
        }
        return deviations;
    }

    /** The number below which a share of a normal distribution lies, by halving: Marsaglia's series, 2004. */
    static double quantile(double share) {
        double low = -8;
        double high = 8;
        for (int i = 0; i < 64; i++) {
            double middle = (low + high) / 2;
            double term = middle;
            double sum = middle;
            for (int n = 3; n < 400; n += 2) {
                term *= middle * middle / n;
                sum += term;
            }
            double below = 0.5 + sum * Math.exp(-middle * middle / 2) / Math.sqrt(2 * Math.PI);
            low = below < share ? middle : low;
            high = below < share ? high : middle;
        }
        return low;
    }

    private static AttentionSpec[] attentions(ModelConfig text, SpecBuilder builder) {
        int layers = builder.windows.length;
        int firstSharing = layers - text.sizeOrNone("num_kv_shared_layers", "attention.shared_kv_layers", layers - 1);
        int size = builder.sizes.headSize();
        var heads = new HeadShape(builder.sizes.heads(), builder.sizes.keyHeads(), size, size);
        var attentions = new AttentionSpec[layers];
        for (int layer = 0; layer < layers; layer++) {
            var own = new AttentionSpec.MultiHead(
                    heads,
                    builder.windows[layer],
                    rope(text, builder, builder.windows[layer] == 0),
                    QueryKeyNorm.PER_HEAD,
                    false,
                    false,
                    1f,
                    0f,
                    false,
                    false,
                    false,
                    AttentionSpec.Value.NORMED);
            attentions[layer] = layer < firstSharing
                    ? own
                    : new AttentionSpec.SharedKeys(own, source(text, builder, layer, firstSharing));
        }
        return attentions;
    }

    /** The last layer of the same kind that has keys and values, in Gemma 4 too. */
    static int source(ModelConfig text, SpecBuilder builder, int layer, int firstSharing) {
        for (int source = firstSharing - 1; source >= 0; source--) {
            if (builder.windows[source] == builder.windows[layer]) {
                return source;
            }
        }
        throw text.unsupported(
                "num_kv_shared_layers",
                Integer.toString(builder.windows.length - firstSharing),
                "fewer, so that each kind has keys");
    }

    private static RopeSpec rope(ModelConfig text, SpecBuilder builder, boolean isFull) {
        double theta = isFull ? FULL_THETA : WINDOW_THETA;
        var ropes = new Ropes(text, builder.sizes.headSize(), builder.sizes.context(), theta, false);
        if (text.isGguf()) {
            double stored = text.number("", isFull ? "rope.freq_base" : "rope.freq_base_swa", theta);
            return ropes.plain(stored, 1);
        }
        if (text.object("rope_parameters").isPresent()) {
            return ropes.read(isFull ? "full_attention" : "sliding_attention");
        }
        return isFull ? ropes.read() : ropes.plain(text.number("rope_local_base_freq", "", theta), 1);
    }

    private static WeightNames names(ModelConfig config) {
        return config.isGguf()
                ? Names.gguf().with(GGUF_LAYER_INPUTS).with(GGUF_NAMES)
                : Names.wrapped(
                        config,
                        Names.huggingFace()
                                .with(Gemma2.NAMES)
                                .with(LAYER_INPUTS)
                                .with(NAMES));
    }

    /** What inputs of layers are called, in Gemma 4 too. */
    static final Map<Part, String> LAYER_INPUTS = Map.ofEntries(
            entry(Part.LAYER_INPUTS, "model.embed_tokens_per_layer"),
            entry(Part.LAYER_INPUT_PROJECTION, "model.per_layer_model_projection"),
            entry(Part.LAYER_INPUT_NORM, "model.per_layer_projection_norm"),
            entry(Part.LAYER_INPUT_GATE, Names.layer("per_layer_input_gate")),
            entry(Part.LAYER_INPUT_UP, Names.layer("per_layer_projection")),
            entry(Part.POST_LAYER_INPUT_NORM, Names.layer("post_per_layer_input_norm")));

    static final Map<Part, String> GGUF_LAYER_INPUTS = Map.ofEntries(
            entry(Part.LAYER_INPUTS, "per_layer_token_embd"),
            entry(Part.LAYER_INPUT_PROJECTION, "per_layer_model_proj"),
            entry(Part.LAYER_INPUT_NORM, "per_layer_proj_norm"),
            entry(Part.LAYER_INPUT_GATE, "blk.{layer}.inp_gate"),
            entry(Part.LAYER_INPUT_UP, "blk.{layer}.proj"),
            entry(Part.POST_LAYER_INPUT_NORM, "blk.{layer}.post_norm"));

    private static final Map<Part, String> NAMES = Map.ofEntries(
            entry(Part.STREAM_PROJECTION, "model.altup_projections.{expert}"),
            entry(Part.STREAM_RETURN, "model.altup_unembed_projections.{expert}"),
            entry(Part.STREAM_ROUTER, Names.layer("altup.modality_router")),
            entry(Part.STREAM_ROUTER_NORM, Names.layer("altup.router_norm")),
            entry(Part.STREAM_PREDICTION, Names.layer("altup.prediction_coefs")),
            entry(Part.STREAM_CORRECTION, Names.layer("altup.correction_coefs")),
            entry(Part.STREAM_SCALE, Names.layer("altup.correct_output_scale")),
            entry(Part.LAUREL_DOWN, Names.layer("laurel.linear_left")),
            entry(Part.LAUREL_UP, Names.layer("laurel.linear_right")),
            entry(Part.LAUREL_NORM, Names.layer("laurel.post_laurel_norm")));

    private static final Map<Part, String> GGUF_NAMES = Map.ofEntries(
            entry(Part.STREAM_PROJECTION, "altup_proj"),
            entry(Part.STREAM_RETURN, "altup_unembd_proj"),
            entry(Part.STREAM_ROUTER, "blk.{layer}.altup_router"),
            entry(Part.STREAM_ROUTER_NORM, "blk.{layer}.altup_router_norm"),
            entry(Part.STREAM_PREDICTION, "blk.{layer}.altup_predict_coef"),
            entry(Part.STREAM_CORRECTION, "blk.{layer}.altup_correct_coef"),
            entry(Part.STREAM_SCALE, "blk.{layer}.altup_correct_scale"),
            entry(Part.LAUREL_DOWN, "blk.{layer}.laurel_l"),
            entry(Part.LAUREL_UP, "blk.{layer}.laurel_r"),
            entry(Part.LAUREL_NORM, "blk.{layer}.laurel_post_norm"));
}
