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

/** BLOOM (2022): scores that fall with distance in the place of positions, a norm behind the embedding. */
public final class Bloom implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("bloom");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("bloom");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config, FIELDS, 0, 4));
        config.requireOff("apply_residual_connection_post_layernorm");
        config.pass("slow_but_exact", "offset_alibi", "skip_bias_add", "skip_bias_add_qkv", "bias_dropout_fusion");
        config.pass("masked_softmax_fusion", "seq_length", "unk_token_id", "n_inner");
        config.has("", "attention.head_count_kv"); // as many as there are heads
        builder.layerNorm(config, "layer_norm_epsilon", true);
        builder.normsEmbedding = true;
        builder.traits = builder.traits.withSlopes(1f);
        builder.projectionBias = true;
        builder.attentionOutputBias = true;
        builder.plain(config, "", Activation.GELU_TANH, true);
        builder.output = new OutputSpec(SpecBuilder.isTied(config, true), false, 1f, 0f);
        return new Blueprint(builder.spec(), config.isGguf() ? GGUF_NAMES : names(config));
    }

    /** Published checkpoints have the bare decoder's names, those that transformers 5 writes have not. */
    private static WeightNames names(ModelConfig config) {
        String prefix = config.hasTensor("word_embeddings.weight") ? "" : "transformer.";
        String layer = prefix + "h.{layer}.";
        return Names.huggingFace()
                .with(Map.of(
                        Part.EMBEDDING, prefix + "word_embeddings",
                        Part.EMBEDDING_NORM, prefix + "word_embeddings_layernorm",
                        Part.FINAL_NORM, prefix + "ln_f",
                        Part.ATTENTION_NORM, layer + "input_layernorm",
                        Part.FEED_FORWARD_NORM, layer + "post_attention_layernorm",
                        Part.QUERY_KEY_VALUE, layer + "self_attention.query_key_value",
                        Part.ATTENTION_OUTPUT, layer + "self_attention.dense",
                        Part.UP, layer + "mlp.dense_h_to_4h",
                        Part.DOWN, layer + "mlp.dense_4h_to_h"))
                .with(WeightNames.Layout.PER_HEAD);
    }

    private static final Sizes.Fields FIELDS = new Sizes.Fields("hidden_size", "n_layer", "n_head", "", "seq_length");
    private static final WeightNames GGUF_NAMES = Names.gguf().with(Map.of(Part.EMBEDDING_NORM, "token_embd_norm"));
}
