package roselle.model.architecture.encoder;

import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.BlockSpec;
import roselle.model.weights.Blueprint;

/** EuroBERT: Llama's layers, in which every token sees every other (Boizard et al., 2025). */
public final class EuroBert implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("eurobert");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("eurobert");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.ofEncoder(config, Sizes.of(config));
        builder.block = new BlockSpec(true, false, false, false, 1f);
        builder.normsEmbedding = false;
        builder.rmsNorm(config, 0f);
        builder.rope(config, 10_000, false);
        builder.projectionBias = config.flag("attention_bias", "", false);
        builder.attentionOutputBias = builder.projectionBias;
        builder.gated(config, "hidden_act", Activation.SILU, config.flag("mlp_bias", "", false));
        return new Blueprint(builder.spec(), Names.of(config, Map.of()));
    }
}
