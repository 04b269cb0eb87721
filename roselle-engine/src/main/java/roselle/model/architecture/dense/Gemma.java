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

/** Gemma: scaled embeddings, and norms that store the distance from 1. */
public final class Gemma implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("gemma");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("gemma");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        builder.rmsNorm(config, 1f);
        builder.rope(config, 10_000, false);
        builder.embeddingScale = (float) Math.sqrt(builder.sizes.width());
        builder.projectionBias = config.flag("attention_bias", "", false);
        builder.attentionOutputBias = builder.projectionBias;
        String field = config.has("hidden_activation", "") ? "hidden_activation" : "hidden_act";
        config.has("hidden_act", "");
        builder.gated(config, field, Activation.GELU_TANH, false);
        builder.output = new OutputSpec(SpecBuilder.isTied(config, true), false, 1f, 0f);
        return new Blueprint(builder.spec(), Names.of(config, Map.of()));
    }
}
