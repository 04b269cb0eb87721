package roselle.model.architecture.dense;

import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.OutputSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;
import roselle.model.weights.WeightNames;

/** StarCoder 1 and SantaCoder: GPT-2 with one head of keys and values for all queries. */
public final class GptBigCode implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("gpt_bigcode");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("starcoder");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        boolean shares = config.flag("multi_query", "", true);
        int keyHeads = config.isGguf() ? config.size("", "attention.head_count_kv", 1 << 16, 1) : shares ? 1 : 0;
        var builder = SpecBuilder.of(config, Sizes.of(config, FIELDS, keyHeads, 4));
        builder.layerNorm(config, "layer_norm_epsilon", true);
        builder.learnedPositions = true;
        builder.projectionBias = true;
        builder.attentionOutputBias = true;
        config.pass("attention_softmax_in_fp32", "scale_attention_softmax_in_fp32", "inference_runner");
        config.pass("num_key_value_heads", "max_batch_size", "max_sequence_length", "pad_key_length");
        config.requireOn("scale_attn_weights");
        builder.plain(config, "activation_function", Activation.GELU_TANH, true);
        builder.output = new OutputSpec(SpecBuilder.isTied(config, true), false, 1f, 0f);
        return new Blueprint(
                builder.spec(),
                config.isGguf() ? Names.gguf() : shares ? NAMES : NAMES.with(WeightNames.Layout.PER_HEAD));
    }

    private static final Sizes.Fields FIELDS =
            new Sizes.Fields("n_embd", "n_layer", "n_head", "n_inner", "n_positions");
    private static final String LAYER = "transformer.h.{layer}.";
    private static final WeightNames NAMES = Names.huggingFace()
            .with(Map.of(
                    Part.EMBEDDING, "transformer.wte",
                    Part.POSITIONS, "transformer.wpe",
                    Part.FINAL_NORM, "transformer.ln_f",
                    Part.ATTENTION_NORM, LAYER + "ln_1",
                    Part.FEED_FORWARD_NORM, LAYER + "ln_2",
                    Part.QUERY_KEY_VALUE, LAYER + "attn.c_attn",
                    Part.ATTENTION_OUTPUT, LAYER + "attn.c_proj",
                    Part.UP, LAYER + "mlp.c_fc",
                    Part.DOWN, LAYER + "mlp.c_proj"));
}
