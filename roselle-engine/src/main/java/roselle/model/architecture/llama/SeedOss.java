package roselle.model.architecture.llama;

import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.weights.Blueprint;

/** Seed-OSS: Llama with biases on queries, keys and values. */
public final class SeedOss implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("seed_oss");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of();
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        builder.rmsNorm(config, 0f);
        builder.rope(config, 10_000, false);
        builder.projectionBias = config.flag("attention_bias", "", true);
        builder.attentionOutputBias = config.flag("attention_out_bias", "", false);
        builder.gated(config, "hidden_act", Activation.SILU, config.flag("mlp_bias", "", false));
        return new Blueprint(builder.spec(), Names.huggingFace());
    }
}
