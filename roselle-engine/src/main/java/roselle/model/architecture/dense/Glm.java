package roselle.model.architecture.dense;

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
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;

/** GLM 4 of 2024: Llama half of whose heads turn, neighbours as pairs. */
public final class Glm implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("glm");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of();
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        builder.rmsNorm(config, 0f);
        int size = builder.sizes.headSize();
        Arrays.fill(builder.ropes, new Ropes(config, size, builder.sizes.context(), 10_000, true, 0.5).read());
        builder.projectionBias = config.flag("attention_bias", "", false);
        builder.gated(config, "hidden_act", Activation.SILU, false);
        return new Blueprint(builder.spec(), Names.of(config, NAMES));
    }

    private static final Map<Part, String> NAMES = Map.of(Part.GATE_UP, Names.layer("mlp.gate_up_proj"));
}
