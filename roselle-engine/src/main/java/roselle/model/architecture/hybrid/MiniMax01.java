package roselle.model.architecture.hybrid;

import static java.util.Map.entry;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.backend.operation.DeltaHeads;
import roselle.model.architecture.expert.Mixtral;
import roselle.model.config.Architecture;
import roselle.model.config.Mixture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Ropes;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.AttentionSpec;
import roselle.model.spec.BlockSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;
import roselle.model.weights.WeightNames;

/**
 * MiniMax Text 01 (MiniMax, 2025): lightning attention, in every eighth layer attention; Mixtral's experts; a stream that is itself
 * normalised before each half and multiplied before a half adds to it.
 */
public final class MiniMax01 implements Architecture {
    private static final float EPSILON =
            1e-6f; // of lightning attention's norm, whatever a configuration says of others
    private static final String FULL = "full_attention";

    @Override
    public Set<String> modelTypes() {
        return Set.of("minimax", "minimax_text_01");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("minimax-01");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        requireKnown(config);
        var builder = SpecBuilder.of(config, Sizes.of(config));
        builder.rmsNorm(config, 0f, 1e-5);
        Arrays.fill(builder.ropes, ropes(config, builder.sizes).read());
        float attentionKept = factor(config, FULL, "alpha", "full_attn_alpha_factor");
        float kept = factor(config, "mlp", "alpha", "mlp_alpha_factor");
        requireSame(config, attentionKept, "alpha");
        float attentionGiven = factor(config, FULL, "beta", "full_attn_beta_factor") / attentionKept;
        requireSame(config, attentionGiven * attentionKept, "beta");
        float given = factor(config, "mlp", "beta", "mlp_beta_factor") / kept;
        builder.block = BlockSpec.normingStream(new BlockSpec.Kept(attentionKept, kept), given);
        builder.traits = builder.traits.withOutputScale(attentionGiven / given);
        Arrays.fill(builder.feedForwards, Mixture.of(config, builder.sizes.inner(), true));
        return new Blueprint(builder.spec(attentions(config, builder)), names(config));
    }

    private static AttentionSpec[] attentions(ModelConfig config, SpecBuilder builder) {
        AttentionSpec[] attentions = builder.attentions();
        boolean[] areLightning = areLightning(config, builder);
        int heads = builder.sizes.heads();
        var shape = new DeltaHeads(heads, heads, builder.sizes.headSize(), builder.sizes.headSize());
        for (int layer = 0; layer < attentions.length; layer++) {
            if (areLightning[layer]) {
                double share = 1 - layer / (attentions.length - 1 + 1e-5) + 1e-5;
                attentions[layer] =
                        new AttentionSpec.Lightning(shape, (float) share, EPSILON, builder.traits.outputScale());
            }
        }
        return attentions;
    }

    /** As types of layers say it, by names or numbers; in GGUF as the tensors show. */
    private static boolean[] areLightning(ModelConfig config, SpecBuilder builder) {
        var are = new boolean[builder.sizes.layers()];
        boolean hasNumbers = !config.isGguf() && config.has("attn_type_list", "");
        if (!config.isGguf() && !hasNumbers) {
            return builder.layersOf(config, "linear_attention", layer -> layer % 2 != 0);
        }
        int[] types = hasNumbers ? config.integers("attn_type_list") : new int[0];
        if (hasNumbers
                && (types.length != are.length || Arrays.stream(types).anyMatch(type -> type != 0 && type != 1))) {
            throw config.unsupported("attn_type_list", Arrays.toString(types), "0 or 1 for each layer");
        }
        for (int layer = 0; layer < are.length; layer++) {
            are[layer] = hasNumbers ? types[layer] == 0 : config.hasTensor("blk." + layer + ".attn_norm_2.weight");
        }
        return are;
    }

    private static Ropes ropes(ModelConfig config, Sizes sizes) {
        double share = (double) config.size("rotary_dim", "", sizes.headSize(), sizes.headSize()) / sizes.headSize();
        return new Ropes(config, sizes.headSize(), sizes.context(), 1_000_000, false, share);
    }

    /** A factor of a half, as published or as transformers calls it; GGUF has one for all that is kept, and none for what is given. */
    private static float factor(ModelConfig config, String half, String kind, String field) {
        if (config.isGguf()) {
            return kind.equals("alpha") ? (float) config.number("", "residual_scale", 1) : 1f;
        }
        return (float) config.number(field, "", config.number("layernorm_" + half + "_" + kind, "", 1));
    }

    private static void requireSame(ModelConfig config, float known, String kind) {
        String field = "linear_attn_" + kind + "_factor";
        float other = factor(config, "linear_attention", kind, field);
        if (Math.abs(other - known) > 1e-6f * known) {
            throw config.unsupported(field, Float.toString(other), known + ", that of full attention");
        }
    }

    private static void requireKnown(ModelConfig config) {
        if (config.activation("hidden_act", Activation.SILU) != Activation.SILU) {
            throw config.unsupported("hidden_act", "not silu", "silu");
        }
        if (config.integer("shared_intermediate_size", "", 0) != 0) {
            throw config.unsupported("shared_intermediate_size", "not 0", "0");
        }
        if (config.window("sliding_window", "") != 0) {
            throw config.unsupported("sliding_window", "not null", "null");
        }
        config.requireOn("postnorm");
        config.pass("block_size", "shared_moe_mode"); // how sums are cut, and experts that are not there
    }

    private static WeightNames names(ModelConfig config) {
        return config.isGguf() ? Names.gguf().with(GGUF_NAMES) : Mixtral.NAMES.with(NAMES);
    }

    private static final Map<Part, String> GGUF_NAMES = Map.of(
            Part.SPACE_NORM, "blk.{layer}.attn_norm_2",
            Part.SPACE_OUTPUT, "blk.{layer}.attn_output");
    private static final Map<Part, String> NAMES = Map.ofEntries(
            entry(Part.QUERY_KEY_VALUE, Names.layer("self_attn.qkv_proj")),
            entry(Part.SPACE_NORM, Names.layer("self_attn.norm")),
            entry(Part.SPACE_OUTPUT, Names.layer("self_attn.out_proj")),
            entry(Part.ATTENTION_GATE, Names.layer("self_attn.output_gate")));
}
