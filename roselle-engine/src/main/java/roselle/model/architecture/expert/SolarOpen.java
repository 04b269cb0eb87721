package roselle.model.architecture.expert;

import java.util.Arrays;
import java.util.Set;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.weights.Blueprint;

/** Solar Open: Llama's heads, and experts chosen as DeepSeek V3 does in all layers. A GGUF of one says that it is GLM 4.5. */
public final class SolarOpen implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("solar_open");
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
        builder.projectionBias = config.flag("attention_bias", "", false);
        Arrays.fill(builder.feedForwards, DeepseekV3.experts(config));
        return new Blueprint(builder.spec(), Names.huggingFace().with(DeepseekV3.NAMES));
    }
}
