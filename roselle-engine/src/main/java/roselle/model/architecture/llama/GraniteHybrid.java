package roselle.model.architecture.llama;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.backend.operation.Gate;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.FeedForwardSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;

/** Granite 4 where all layers attend and none has experts (350M, 1B and micro, without an H): Granite by other names. */
public final class GraniteHybrid implements Architecture {
    private static final int MOST = 1 << 24;

    @Override
    public Set<String> modelTypes() {
        return Set.of("granitemoehybrid");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of();
    }

    @Override
    public Blueprint read(ModelConfig config) {
        for (String type : config.strings("layer_types")) {
            if (!type.equals("attention") && !type.equals("full_attention")) {
                throw config.unsupported("layer_types", type, "attention");
            }
        }
        if (config.integer("num_local_experts", "", 8) != 0) {
            throw config.unsupported("num_local_experts", "not 0", "0");
        }
        config.pass("num_experts_per_tok", "time_step_limit", "intermediate_size"); // of what is not there
        config.pass("normalization_function", "init_method");
        config.pass(MAMBA);
        SpecBuilder builder = Granite.builder(config, Sizes.of(config));
        int size = config.size("shared_intermediate_size", "", MOST);
        Gate gate = Gate.of(config.activation("hidden_act", Activation.SILU));
        Arrays.fill(builder.feedForwards, new FeedForwardSpec.Gated(size, gate, false));
        if (!config.string("position_embedding_type", "", "nope").equals("rope")) {
            Arrays.fill(builder.ropes, null);
        }
        return new Blueprint(builder.spec(), Names.of(config, NAMES));
    }

    private static final String[] MAMBA = {
        "mamba_chunk_size",
        "mamba_conv_bias",
        "mamba_d_conv",
        "mamba_d_head",
        "mamba_d_state",
        "mamba_expand",
        "mamba_n_groups",
        "mamba_n_heads",
        "mamba_proj_bias"
    };

    private static final Map<Part, String> NAMES = Map.of(
            Part.GATE_UP, Names.layer("shared_mlp.input_linear"),
            Part.DOWN, Names.layer("shared_mlp.output_linear"));
}
