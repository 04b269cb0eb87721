package roselle.model.architecture.hybrid;

import static java.util.Map.entry;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.backend.operation.DeltaHeads;
import roselle.model.architecture.dense.Olmo2;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.AttentionSpec;
import roselle.model.spec.AttentionSpec.QueryKeyNorm;
import roselle.model.spec.BlockSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;
import roselle.model.weights.WeightNames;

/**
 * OLMo Hybrid: three layers in four are delta nets whose corrections may overshoot, with norms before each half; the others are
 * those of OLMo 2, with norms behind each half.
 */
public final class OlmoHybrid implements Architecture {
    private static final int MOST_HEADS = 10_000;
    private static final float EPSILON = 1e-5f; // of the heads' norm, whatever a configuration says of others

    @Override
    public Set<String> modelTypes() {
        return Set.of("olmo_hybrid");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of();
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        builder.rmsNorm(config, 0f);
        builder.block = new BlockSpec(false, true, false, false, 1f);
        builder.queryKeyNorm = QueryKeyNorm.ALL_HEADS;
        builder.projectionBias = config.flag("attention_bias", "", false);
        builder.attentionOutputBias = builder.projectionBias;
        builder.gated(config, "hidden_act", Activation.SILU, false);
        boolean turns = config.object("rope_parameters")
                .map(fields -> fields.has("rope_theta"))
                .orElse(config.has("rope_theta", ""));
        config.pass("rope_theta", "rope_scaling");
        if (turns) {
            builder.rope(config, 10_000, false);
        }
        config.pass("linear_a_log_min", "linear_a_log_max"); // by which weights were drawn
        config.pass("linear_dt_min", "linear_dt_max", "linear_dt_init_floor");
        boolean[] areDelta = builder.layersOf(config, "linear_attention", layer -> layer % 4 != 3);
        AttentionSpec.DeltaNet delta = delta(config, builder);
        AttentionSpec[] attentions = builder.attentions();
        var blocks = new ArrayList<Optional<BlockSpec>>();
        int attending = 0;
        for (int layer = 0; layer < attentions.length; layer++) {
            attentions[layer] = areDelta[layer] ? delta : attentions[layer];
            blocks.add(areDelta[layer] ? Optional.of(NORMS_BEFORE) : Optional.empty());
            attending = areDelta[layer] ? attending : layer;
        }
        return new Blueprint(builder.spec(attentions).withBlocks(blocks), names(config, attending));
    }

    private static final BlockSpec NORMS_BEFORE = new BlockSpec(true, false, false, false, 1f);

    private static AttentionSpec.DeltaNet delta(ModelConfig config, SpecBuilder builder) {
        int keyHeads = config.size("linear_num_key_heads", "", MOST_HEADS, builder.sizes.heads());
        int keySize = config.size(
                "linear_key_head_dim",
                "",
                AttentionSpec.MAX_HEAD_SIZE,
                Math.max(1, builder.sizes.width() * 3 / 4 / keyHeads));
        var heads = new DeltaHeads(
                keyHeads,
                config.size("linear_num_value_heads", "", MOST_HEADS, builder.sizes.heads()),
                keySize,
                config.size("linear_value_head_dim", "", AttentionSpec.MAX_HEAD_SIZE, 2 * keySize));
        int taps = config.size("linear_conv_kernel_dim", "", AttentionSpec.MAX_TAPS, 4);
        float strength = config.flag("linear_allow_neg_eigval", "", true) ? 2f : 1f;
        return new AttentionSpec.DeltaNet(heads, taps, Activation.SILU, EPSILON, 0, strength, 0f);
    }

    private static final String BEHIND = Names.layer("post_attention_layernorm");

    /** Norms have their published names, or those of transformers. */
    private static WeightNames names(ModelConfig config, int attending) {
        var norms = new HashMap<Part, String>(Olmo2.NAMES);
        boolean isPublished = config.hasTensorEnding(".attention_layer_norm.weight");
        if (isPublished) {
            norms.put(Part.ATTENTION_NORM, Names.layer("attention_layer_norm"));
            norms.put(Part.FEED_FORWARD_NORM, Names.layer("feedforward_layer_norm"));
        }
        String behind = BEHIND.replace("{layer}", Integer.toString(attending));
        if (isPublished && !config.hasTensor(behind + ".weight")) { // which transformers writes so
            norms.put(Part.POST_ATTENTION_NORM, Names.layer("feedforward_layer_norm"));
        }
        return Names.huggingFace().with(NAMES).with(norms);
    }

    private static final Map<Part, String> NAMES = Map.ofEntries(
            entry(Part.DELTA_QUERY, Names.layer("linear_attn.q_proj")),
            entry(Part.DELTA_KEY, Names.layer("linear_attn.k_proj")),
            entry(Part.DELTA_VALUE, Names.layer("linear_attn.v_proj")),
            entry(Part.DELTA_GATE, Names.layer("linear_attn.g_proj")),
            entry(Part.DELTA_A, Names.layer("linear_attn.a_proj")),
            entry(Part.DELTA_B, Names.layer("linear_attn.b_proj")),
            entry(Part.DELTA_RATE_LOGARITHM, Names.layer("linear_attn.A_log")),
            entry(Part.DELTA_TIME_BIAS, Names.layer("linear_attn.dt_bias")),
            entry(Part.DELTA_NORM, Names.layer("linear_attn.o_norm")),
            entry(Part.DELTA_OUTPUT, Names.layer("linear_attn.o_proj")),
            entry(Part.CONVOLUTION, Names.layer("linear_attn.conv1d")),
            entry(Part.CONVOLUTION_QUERY, Names.layer("linear_attn.q_conv1d")),
            entry(Part.CONVOLUTION_KEY, Names.layer("linear_attn.k_conv1d")),
            entry(Part.CONVOLUTION_VALUE, Names.layer("linear_attn.v_conv1d")));
}
