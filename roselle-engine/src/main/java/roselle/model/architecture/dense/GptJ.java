package roselle.model.architecture.dense;

import static java.util.Map.entry;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Ropes;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.BlockSpec;
import roselle.model.spec.OutputSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;
import roselle.model.weights.WeightNames;

/** GPT-J: attention and feed-forward read the same normalised stream, neighbours in part of each head turn. */
public final class GptJ implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("gptj");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of();
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config, FIELDS, 0, 4));
        builder.layerNorm(config, "layer_norm_epsilon", true);
        builder.block = new BlockSpec(true, false, true, true, 1f);
        int size = builder.sizes.headSize();
        double share = (double) config.size("rotary_dim", "rope.dimension_count", size, size) / size;
        Arrays.fill(builder.ropes, new Ropes(config, size, builder.sizes.context(), 10_000, true, share).read());
        builder.plain(config, "activation_function", Activation.GELU_TANH, true);
        builder.output = new OutputSpec(SpecBuilder.isTied(config, false), true, 1f, 0f);
        return new Blueprint(builder.spec(), config.isGguf() ? Names.gguf() : NAMES);
    }

    private static final Sizes.Fields FIELDS =
            new Sizes.Fields("n_embd", "n_layer", "n_head", "n_inner", "n_positions");
    private static final String LAYER = "transformer.h.{layer}.";
    private static final WeightNames NAMES = Names.huggingFace()
            .with(Map.ofEntries(
                    entry(Part.EMBEDDING, "transformer.wte"),
                    entry(Part.FINAL_NORM, "transformer.ln_f"),
                    entry(Part.ATTENTION_NORM, LAYER + "ln_1"),
                    entry(Part.QUERY, LAYER + "attn.q_proj"),
                    entry(Part.KEY, LAYER + "attn.k_proj"),
                    entry(Part.VALUE, LAYER + "attn.v_proj"),
                    entry(Part.ATTENTION_OUTPUT, LAYER + "attn.out_proj"),
                    entry(Part.UP, LAYER + "mlp.fc_in"),
                    entry(Part.DOWN, LAYER + "mlp.fc_out")));
}
