package roselle.model.architecture.llama;

import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;

/** Phi 3 and 4: Llama with fused matrices and LongRoPE. */
public final class Phi3 implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("phi3");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("phi3");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        builder.rmsNorm(config, 0f);
        builder.rope(config, 10_000, false);
        builder.windows(config, config.window("sliding_window", "attention.sliding_window"), layer -> true);
        config.has("original_max_position_embeddings", "");
        builder.gated(config, "hidden_act", Activation.SILU, false);
        return new Blueprint(
                builder.spec(),
                config.isGguf()
                        ? Names.ggufWithFusedGate()
                        : Names.huggingFace().with(NAMES));
    }

    private static final Map<Part, String> NAMES = Map.of(
            Part.QUERY_KEY_VALUE, Names.layer("self_attn.qkv_proj"),
            Part.GATE_UP, Names.layer("mlp.gate_up_proj"));
}
