package roselle.model.architecture.expert;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.model.config.Architecture;
import roselle.model.config.Mixture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;
import roselle.model.weights.WeightNames;

/** Mixtral: Mistral with experts (Jiang et al., 2024). */
public final class Mixtral implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("mixtral");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of();
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        builder.rmsNorm(config, 0f);
        builder.rope(config, 1_000_000, false);
        builder.windows(config, config.window("sliding_window", ""), layer -> true);
        config.activation("hidden_act", Activation.SILU);
        Arrays.fill(builder.feedForwards, Mixture.of(config, builder.sizes.inner(), true));
        return new Blueprint(builder.spec(), NAMES);
    }

    private static final String EXPERT = Names.layer("block_sparse_moe.experts.{expert}.");
    public static final WeightNames NAMES = Names.huggingFace()
            .with(Map.of(
                    Part.ROUTER, Names.layer("block_sparse_moe.gate"),
                    Part.EXPERT_GATE, EXPERT + "w1",
                    Part.EXPERT_UP, EXPERT + "w3",
                    Part.EXPERT_DOWN, EXPERT + "w2"));
}
