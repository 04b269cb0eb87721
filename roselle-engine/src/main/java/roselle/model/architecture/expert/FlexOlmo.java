package roselle.model.architecture.expert;

import java.util.Arrays;
import java.util.Set;
import roselle.model.architecture.dense.Olmo2;
import roselle.model.config.Architecture;
import roselle.model.config.Mixture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.AttentionSpec.QueryKeyNorm;
import roselle.model.spec.BlockSpec;
import roselle.model.weights.Blueprint;

/** FlexOlmo: OLMo 2 with experts. */
public final class FlexOlmo implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("flex_olmo");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of();
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        builder.rmsNorm(config, 0f);
        builder.block = new BlockSpec(false, true, false, false, 1f);
        builder.rope(config, 500_000, false);
        builder.queryKeyNorm = QueryKeyNorm.ALL_HEADS;
        config.requireOff("attention_bias");
        boolean normalizes = config.flag("norm_topk_prob", "", false);
        int size = builder.sizes.inner();
        Arrays.fill(builder.feedForwards, Mixture.of(config, size, normalizes));
        return new Blueprint(builder.spec(), Names.of(config, Olmo2.NAMES));
    }
}
