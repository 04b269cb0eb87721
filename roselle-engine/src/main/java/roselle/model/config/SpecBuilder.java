package roselle.model.config;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;
import roselle.backend.operation.Activation;
import roselle.backend.operation.Gate;
import roselle.backend.operation.HeadShape;
import roselle.backend.operation.Norm;
import roselle.model.spec.AttentionSpec;
import roselle.model.spec.AttentionSpec.QueryKeyNorm;
import roselle.model.spec.AttentionTraits;
import roselle.model.spec.BlockSpec;
import roselle.model.spec.DecoderSpec;
import roselle.model.spec.FeedForwardSpec;
import roselle.model.spec.InputSpec;
import roselle.model.spec.LayerInputs;
import roselle.model.spec.LayerSpec;
import roselle.model.spec.NormSpec;
import roselle.model.spec.OutputSpec;
import roselle.model.spec.RopeSpec;
import roselle.model.spec.TaskSpec;

/**
 * A decoder in the making. It begins as Llama's (RMS norms before each half, rotary positions, gated SiLU, no biases, all
 * layers alike), and a family's file says what is different.
 */
public final class SpecBuilder {
    public final Sizes sizes;
    NormSpec norm;
    public BlockSpec block = new BlockSpec(true, false, false, false, 1f);
    public float embeddingScale = 1f;
    public boolean learnedPositions;
    public int firstPosition;
    /** Kinds of distances, each of which adds a number to scores; 0 for none. */
    public int distanceBuckets;

    /** Kinds of tokens that the embedding tells apart; 0 for none. */
    public int types;

    public boolean normsEmbedding;
    /** Adapters of single tasks; null for none. */
    public @Nullable TaskSpec tasks;

    /** What each layer is told of a token by itself; null for nothing. */
    public @Nullable LayerInputs layerInputs;

    public @Nullable OutputSpec output;

    /** Per layer: tokens that a query sees; 0 for all. */
    public final int[] windows;
    /** Per layer; null where positions are not encoded. */
    public final RopeSpec[] ropes;

    public QueryKeyNorm queryKeyNorm = QueryKeyNorm.NONE;
    public boolean projectionBias;
    public boolean attentionOutputBias;
    public float scoreScale;
    public float scoreSoftCap;
    public boolean sinks;
    public boolean gated;
    public boolean bidirectional;
    public AttentionTraits traits = AttentionTraits.NONE;

    /** Per layer. */
    public final FeedForwardSpec[] feedForwards;

    private final String family;

    private SpecBuilder(ModelConfig config, Sizes sizes) {
        this.sizes = sizes;
        family = config.family();
        windows = new int[sizes.layers()];
        ropes = new RopeSpec[sizes.layers()];
        feedForwards = new FeedForwardSpec[sizes.layers()];
        scoreScale = (float) (1 / Math.sqrt(sizes.headSize()));
        norm = new NormSpec(Norm.Kind.RMS, 1e-6f, 0f, false);
        output = new OutputSpec(false, false, 1f, 0f);
    }

    /** Llama's shape in the sizes of a configuration. */
    public static SpecBuilder of(ModelConfig config, Sizes sizes) {
        var builder = new SpecBuilder(config, sizes);
        config.requireOff("is_encoder_decoder", "add_cross_attention", "use_mrope");
        requireCausalText(config);
        builder.output = new OutputSpec(isTied(config, false), false, 1f, 0f);
        return builder;
    }

    /** The same; where the configuration says that every token sees those behind it, too, without logits. */
    public static SpecBuilder ofEitherWay(ModelConfig config, Sizes sizes) {
        if (config.isGguf()) {
            boolean pools = config.family().equals("gemma-embedding") || config.integer("", "pooling_type", 0) == MEAN;
            var builder = of(config, sizes);
            builder.bidirectional = pools; // a mean is of tokens that see each other
            return builder;
        }
        if (!config.has(BOTH_WAYS, "") || !config.metadata().isFlag(BOTH_WAYS)) {
            return of(config, sizes);
        }
        boolean both = config.flag(BOTH_WAYS, "", false);
        var builder = both ? new SpecBuilder(config, sizes) : of(config, sizes);
        config.requireOff("is_encoder_decoder", "add_cross_attention", "use_mrope");
        builder.bidirectional = both;
        return builder;
    }

    /** Fails where text sees what is behind it; "vision" says that pictures alone do. */
    private static void requireCausalText(ModelConfig config) {
        if (!config.isGguf() && config.has(BOTH_WAYS, "") && !config.metadata().isFlag(BOTH_WAYS)) {
            config.requireWord(BOTH_WAYS, "vision");
        } else {
            config.requireOff(BOTH_WAYS);
        }
    }

    private static final int MEAN = 1; // of the kinds of pooling that a GGUF names

    private static final String BOTH_WAYS = "use_bidirectional_attention";

    /** BERT's shape: a norm behind the embedding and each half, biases, every token sees every other, no logits. */
    public static SpecBuilder ofEncoder(ModelConfig config, Sizes sizes) {
        var builder = new SpecBuilder(config, sizes);
        config.requireOff("is_decoder", "is_encoder_decoder", "add_cross_attention");
        config.flag("tie_word_embeddings", "", true); // of a head for training
        builder.output = null;
        builder.block = BlockSpec.POST_NORM;
        builder.normsEmbedding = true;
        builder.bidirectional = true;
        builder.projectionBias = true;
        builder.attentionOutputBias = true;
        return builder;
    }

    /** Whether the embedding is the output matrix; a GGUF says so by having no other. */
    public static boolean isTied(ModelConfig config, boolean assumed) {
        return config.isGguf() ? !config.hasTensor("output.weight") : config.flag("tie_word_embeddings", "", assumed);
    }

    public void rmsNorm(ModelConfig config, float weightOffset) {
        rmsNorm(config, weightOffset, 1e-6);
    }

    /** The same with what to assume for an epsilon that is not said. */
    public void rmsNorm(ModelConfig config, float weightOffset, double assumed) {
        double epsilon = config.number("rms_norm_eps", "attention.layer_norm_rms_epsilon", assumed);
        norm = new NormSpec(Norm.Kind.RMS, (float) epsilon, config.isGguf() ? 0f : weightOffset, false);
    }

    /** RMS norms with a given epsilon. */
    public void rmsNorm(double epsilon) {
        norm = new NormSpec(Norm.Kind.RMS, (float) epsilon, 0f, false);
    }

    public void layerNorm(ModelConfig config, String field, boolean bias) {
        double epsilon = config.number(field, "attention.layer_norm_epsilon", 1e-5);
        norm = new NormSpec(Norm.Kind.LAYER, (float) epsilon, 0f, bias);
    }

    /** Layer norms whose weights are stored as their distance from 1. */
    public void layerNormFromOne(ModelConfig config, String field) {
        layerNorm(config, field, true);
        norm = new NormSpec(Norm.Kind.LAYER, norm.epsilon(), config.isGguf() ? 0f : 1f, true);
    }

    /** Layer norms with biases and a given epsilon. */
    public void layerNorm(double epsilon) {
        layerNorm(epsilon, true);
    }

    /** Layer norms with a given epsilon. */
    public void layerNorm(double epsilon, boolean bias) {
        norm = new NormSpec(Norm.Kind.LAYER, (float) epsilon, 0f, bias);
    }

    /** Rotary positions in all layers, with neighbours as pairs or not. */
    public void rope(ModelConfig config, double defaultTheta, boolean interleaved) {
        Arrays.fill(ropes, new Ropes(config, sizes.headSize(), sizes.context(), defaultTheta, interleaved).read());
    }

    public void gated(ModelConfig config, String field, Activation assumed, boolean bias) {
        Gate gate = Gate.of(config.activation(field, assumed));
        Arrays.fill(feedForwards, new FeedForwardSpec.Gated(sizes.inner(), gate, bias));
    }

    public void plain(ModelConfig config, String field, Activation assumed, boolean bias) {
        Arrays.fill(feedForwards, new FeedForwardSpec.Plain(sizes.inner(), config.activation(field, assumed), bias));
    }

    /** A window in the layers that a configuration names, or that a pattern gives where it names none. */
    public void windows(ModelConfig config, int window, IntPredicate pattern) {
        if (config.has("", WINDOWS)) {
            windows(config, window, config.flags(WINDOWS));
            return;
        }
        boolean named = !config.isGguf() && config.has("layer_types", "");
        if (named && config.strings("layer_types").size() != windows.length) {
            throw config.unsupported(
                    "layer_types", config.strings("layer_types").size() + " names", "one for each layer");
        }
        for (int i = 0; i < windows.length; i++) {
            boolean slides =
                    named ? slides(config, config.strings("layer_types").get(i)) : pattern.test(i);
            windows[i] = slides ? window : 0;
        }
    }

    private static final String WINDOWS = "attention.sliding_window_pattern";

    private void windows(ModelConfig config, int window, boolean[] slide) {
        if (slide.length != windows.length) {
            throw config.unsupported(WINDOWS, slide.length + " flags", "one for each layer");
        }
        for (int i = 0; i < windows.length; i++) {
            windows[i] = slide[i] ? window : 0;
        }
    }

    /** Positions of the layers that see everything, and of those with a window. */
    public void ropes(RopeSpec full, RopeSpec sliding) {
        for (int i = 0; i < ropes.length; i++) {
            ropes[i] = windows[i] == 0 ? full : sliding;
        }
    }

    /** Takes the positions from the layers that see everything. */
    public void dropPositionsOfFullLayers() {
        for (int i = 0; i < ropes.length; i++) {
            ropes[i] = windows[i] == 0 ? null : ropes[i];
        }
    }

    /**
     * For each layer whether it is of a type that {@code layer_types} names, or as a pattern says where nothing is named.
     *
     * @param type the name looked for; any other must be {@code full_attention}
     */
    public boolean[] layersOf(ModelConfig config, String type, IntPredicate pattern) {
        var are = new boolean[sizes.layers()];
        List<String> types =
                !config.isGguf() && config.has("layer_types", "") ? config.strings("layer_types") : List.of();
        if (!types.isEmpty() && types.size() != are.length) {
            throw config.unsupported("layer_types", types.size() + " names", "one for each layer");
        }
        for (int i = 0; i < are.length; i++) {
            are[i] = types.isEmpty() ? pattern.test(i) : types.get(i).equals(type);
            if (!types.isEmpty() && !are[i] && !types.get(i).equals("full_attention")) {
                throw config.unsupported("layer_types", types.get(i), "full_attention or " + type);
            }
        }
        return are;
    }

    private static boolean slides(ModelConfig config, String type) {
        return switch (type) {
            case "sliding_attention" -> true;
            case "full_attention" -> false;
            default -> throw config.unsupported("layer_types", type, "full_attention or sliding_attention");
        };
    }

    /** The decoder, all of whose layers have heads of their own. */
    public DecoderSpec spec() {
        return spec(attentions());
    }

    /** Heads of their own in each layer. */
    public AttentionSpec[] attentions() {
        return Arrays.copyOf(heads(), windows.length, AttentionSpec[].class);
    }

    /** The same, for who changes some. */
    public AttentionSpec.MultiHead[] heads() {
        var heads = new HeadShape(sizes.heads(), sizes.keyHeads(), sizes.headSize(), sizes.headSize());
        var attentions = new AttentionSpec.MultiHead[sizes.layers()];
        for (int i = 0; i < attentions.length; i++) {
            attentions[i] = new AttentionSpec.MultiHead(
                    heads,
                    windows[i],
                    ropes[i],
                    queryKeyNorm,
                    projectionBias,
                    attentionOutputBias,
                    scoreScale,
                    scoreSoftCap,
                    sinks,
                    gated,
                    bidirectional,
                    AttentionSpec.Value.PRODUCT,
                    traits);
        }
        return attentions;
    }

    /** The decoder with the given attention in each layer. */
    public DecoderSpec spec(AttentionSpec[] attentions) {
        var layers = new ArrayList<LayerSpec>();
        for (int i = 0; i < attentions.length; i++) {
            layers.add(new LayerSpec(attentions[i], feedForwards[i]));
        }
        return new DecoderSpec(
                family,
                sizes.vocabulary(),
                sizes.width(),
                sizes.context(),
                new InputSpec(
                        embeddingScale,
                        learnedPositions,
                        firstPosition,
                        distanceBuckets,
                        types,
                        normsEmbedding,
                        tasks,
                        layerInputs),
                norm,
                block,
                layers,
                output);
    }
}
