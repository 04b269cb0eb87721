package roselle.model.architecture.expert;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import roselle.model.config.Architecture;
import roselle.model.config.Mixture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.AttentionSpec.QueryKeyNorm;
import roselle.model.weights.Blueprint;

/** OLMoE: experts, and norms on all queries and all keys together. */
public final class Olmoe implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("olmoe");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("olmoe");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        if (config.has("clip_qkv", "")) {
            throw config.unsupported("clip_qkv", Double.toString(config.number("clip_qkv", "")), "null");
        }
        builder.rmsNorm(config, 0f);
        builder.rope(config, 10_000, false);
        builder.queryKeyNorm = QueryKeyNorm.ALL_HEADS;
        builder.projectionBias = config.flag("attention_bias", "", false);
        builder.attentionOutputBias = builder.projectionBias;
        boolean normalizes = config.flag("norm_topk_prob", "", false);
        Arrays.fill(builder.feedForwards, Mixture.of(config, builder.sizes.inner(), normalizes));
        return new Blueprint(builder.spec(), Names.of(config, Map.of()));
    }
}
