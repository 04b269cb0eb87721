package roselle.model.architecture.dense;

import static java.util.Map.entry;

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

/** OPT (Zhang et al., 2022): learned positions from the third row of their table on, biases, ReLU. */
public final class Opt implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("opt");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of();
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config, FIELDS, 0, 4));
        config.requireOn("do_layer_norm_before", "enable_bias", "layer_norm_elementwise_affine");
        config.requireOff("_remove_final_layer_norm");
        int width = builder.sizes.width();
        int embedded = config.size("word_embed_proj_dim", "", width, width);
        if (embedded != width) {
            throw config.unsupported("word_embed_proj_dim", Integer.toString(embedded), "hidden_size");
        }
        config.pass("layerdrop", "init_std");
        builder.layerNorm(1e-5);
        builder.learnedPositions = true;
        builder.firstPosition = 2;
        builder.projectionBias = true;
        builder.attentionOutputBias = true;
        builder.plain(config, "activation_function", Activation.RELU, true);
        builder.output = new OutputSpec(SpecBuilder.isTied(config, true), false, 1f, 0f);
        return new Blueprint(builder.spec(), NAMES);
    }

    private static final Sizes.Fields FIELDS = new Sizes.Fields(
            "hidden_size", "num_hidden_layers", "num_attention_heads", "ffn_dim", "max_position_embeddings");
    private static final String LAYER = "model.decoder.layers.{layer}.";
    private static final WeightNames NAMES = Names.huggingFace()
            .with(Map.ofEntries(
                    entry(Part.EMBEDDING, "model.decoder.embed_tokens"),
                    entry(Part.POSITIONS, "model.decoder.embed_positions"),
                    entry(Part.FINAL_NORM, "model.decoder.final_layer_norm"),
                    entry(Part.ATTENTION_NORM, LAYER + "self_attn_layer_norm"),
                    entry(Part.FEED_FORWARD_NORM, LAYER + "final_layer_norm"),
                    entry(Part.QUERY, LAYER + "self_attn.q_proj"),
                    entry(Part.KEY, LAYER + "self_attn.k_proj"),
                    entry(Part.VALUE, LAYER + "self_attn.v_proj"),
                    entry(Part.ATTENTION_OUTPUT, LAYER + "self_attn.out_proj"),
                    entry(Part.UP, LAYER + "fc1"),
                    entry(Part.DOWN, LAYER + "fc2")));
}
