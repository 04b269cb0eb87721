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

/** MPT (2023): scores that fall with distance in the place of positions, and no biases at all. */
public final class Mpt implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("mpt");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("mpt");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config, FIELDS, 0, 4));
        attention(config);
        config.requireOn("no_bias");
        config.pass(
                "expansion_ratio", "learned_pos_emb", "init_device", "verbose", "emb_pdrop"); // as transformers has it
        config.pass("embedding_fraction", "norm_type", "init_config", "use_norm_bias");
        builder.layerNorm(config, "layer_norm_epsilon", false);
        builder.traits = builder.traits.withSlopes(1f);
        builder.plain(config, "", Activation.GELU, false);
        if (config.has("logit_scale", "")) {
            throw config.unsupported("logit_scale", "not null", "null");
        }
        builder.output = new OutputSpec(SpecBuilder.isTied(config, true), false, 1f, 0f);
        return new Blueprint(builder.spec(), config.isGguf() ? Names.gguf() : NAMES);
    }

    /** Refuses what no published model has otherwise. */
    private static void attention(ModelConfig config) {
        double slope = config.number("", "attention.max_alibi_bias", 8);
        double clip = config.number("", "attention.clamp_kqv", 0);
        config.object("attn_config").ifPresent(fields -> {
            boolean isKnown = fields.flag("alibi", true)
                    && fields.number("alibi_bias_max", 8) == 8
                    && !fields.has("clip_qkv")
                    && !fields.flag("qk_ln", false)
                    && !fields.has("softmax_scale")
                    && !fields.flag("prefix_lm", false);
            if (!isKnown) {
                throw config.unsupported("attn_config", "another one", "ALiBi to 8 without clips, norms and scales");
            }
        });
        if (slope != 8 || clip != 0) {
            throw config.unsupported("attention.max_alibi_bias", Double.toString(slope), "8, without clips");
        }
    }

    private static final Sizes.Fields FIELDS = new Sizes.Fields("d_model", "n_layers", "n_heads", "", "max_seq_len");
    private static final String LAYER = "transformer.blocks.{layer}.";
    private static final WeightNames NAMES = Names.huggingFace()
            .with(Map.of(
                    Part.EMBEDDING, "transformer.wte",
                    Part.FINAL_NORM, "transformer.norm_f",
                    Part.ATTENTION_NORM, LAYER + "norm_1",
                    Part.FEED_FORWARD_NORM, LAYER + "norm_2",
                    Part.QUERY_KEY_VALUE, LAYER + "attn.Wqkv",
                    Part.ATTENTION_OUTPUT, LAYER + "attn.out_proj",
                    Part.UP, LAYER + "ffn.up_proj",
                    Part.DOWN, LAYER + "ffn.down_proj"));
}
