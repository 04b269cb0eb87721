package roselle.model.architecture.dense;

import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.BlockSpec;
import roselle.model.spec.OutputSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;
import roselle.model.weights.WeightNames;

/** Falcon (2023), of three shapes: one key head for all queries, some of them, or one for each with slopes in the place of positions. */
public final class Falcon implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("falcon");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("falcon");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        boolean isNew = config.isGguf()
                ? config.hasTensor("blk.0.attn_norm_2.weight")
                : config.flag("new_decoder_architecture", "", false);
        boolean shares = config.flag("multi_query", "", true);
        int some = config.isGguf() ? config.size("", "attention.head_count_kv", MOST, 1) : shares ? 1 : 0;
        int keyHeads = isNew ? config.size("num_kv_heads", "attention.head_count_kv", MOST) : some;
        config.pass("num_kv_heads");
        var builder = SpecBuilder.of(config, Sizes.of(config, FIELDS, keyHeads, 4));
        builder.layerNorm(config, "layer_norm_epsilon", true);
        boolean parallel = config.flag("parallel_attn", "", true);
        int norms = config.isGguf() ? 2 : config.integer("num_ln_in_parallel_attn", "", 2);
        builder.block = new BlockSpec(true, false, isNew || parallel, !isNew || norms == 1, 1f);
        if (config.flag("alibi", "", false)) {
            config.pass("rope_parameters", "rope_theta", "rope_scaling"); // of what is not there
            builder.traits = builder.traits.withSlopes((float) (1 / Math.sqrt(builder.sizes.headSize())));
        } else {
            builder.rope(config, 10_000, false);
        }
        boolean bias = config.flag("bias", "", false);
        builder.projectionBias = bias;
        builder.attentionOutputBias = bias;
        builder.plain(config, "activation", Activation.GELU, bias);
        builder.output = new OutputSpec(SpecBuilder.isTied(config, true), false, 1f, 0f);
        WeightNames names = isNew && norms == 2 ? NAMES.with(TWO_NORMS) : NAMES;
        return new Blueprint(
                builder.spec(),
                config.isGguf()
                        ? isNew ? GGUF_NAMES : Names.gguf()
                        : names.with(isNew || !shares ? WeightNames.Layout.PER_HEAD : WeightNames.Layout.PLAIN));
    }

    private static final int MOST = 1 << 16;
    private static final Sizes.Fields FIELDS = new Sizes.Fields(
            "hidden_size", "num_hidden_layers", "num_attention_heads", "ffn_hidden_size", "max_position_embeddings");
    private static final String LAYER = "transformer.h.{layer}.";
    private static final Map<Part, String> TWO_NORMS =
            Map.of(Part.ATTENTION_NORM, LAYER + "ln_attn", Part.FEED_FORWARD_NORM, LAYER + "ln_mlp");
    private static final WeightNames GGUF_NAMES = Names.gguf()
            .with(Map.of(
                    Part.ATTENTION_NORM, "blk.{layer}.attn_norm_2", Part.FEED_FORWARD_NORM, "blk.{layer}.attn_norm"));
    private static final WeightNames NAMES = Names.huggingFace()
            .with(Map.of(
                    Part.EMBEDDING, "transformer.word_embeddings",
                    Part.FINAL_NORM, "transformer.ln_f",
                    Part.ATTENTION_NORM, LAYER + "input_layernorm",
                    Part.FEED_FORWARD_NORM, LAYER + "post_attention_layernorm",
                    Part.QUERY_KEY_VALUE, LAYER + "self_attention.query_key_value",
                    Part.ATTENTION_OUTPUT, LAYER + "self_attention.dense",
                    Part.UP, LAYER + "mlp.dense_h_to_4h",
                    Part.DOWN, LAYER + "mlp.dense_4h_to_h"));
}
