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

/** Nemotron 4 and Minitron: layer norms whose weights are distances from 1, part of each head turned, squared ReLU. */
public final class Nemotron implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("nemotron");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("nemotron");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        builder.layerNormFromOne(config, "norm_eps");
        int size = builder.sizes.headSize();
        Arrays.fill(builder.ropes, new Ropes(config, size, builder.sizes.context(), 10_000, false, 0.5).read());
        builder.projectionBias = config.flag("attention_bias", "", false);
        builder.attentionOutputBias = builder.projectionBias;
        builder.plain(config, "hidden_act", Activation.RELU_SQUARED, config.flag("mlp_bias", "", false));
        return new Blueprint(builder.spec(), Names.of(config, Map.of()));
    }
}
