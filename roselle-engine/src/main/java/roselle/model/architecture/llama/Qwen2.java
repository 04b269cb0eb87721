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

/** Qwen 2 and 2.5: Llama with biases on queries, keys and values. */
public final class Qwen2 implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("qwen2");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("qwen2");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        builder.rmsNorm(config, 0f);
        builder.rope(config, 10_000, false);
        builder.projectionBias = true;
        Qwen.windows(config, builder);
        builder.gated(config, "hidden_act", Activation.SILU, false);
        return new Blueprint(builder.spec(), Names.of(config, Map.of()));
    }
}
