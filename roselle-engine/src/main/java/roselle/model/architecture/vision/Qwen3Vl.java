package roselle.model.architecture.vision;

import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.AttentionSpec.QueryKeyNorm;
import roselle.model.spec.OutputSpec;
import roselle.model.weights.Blueprint;

/** Qwen 3 VL, text only, without experts: Qwen 3 beside an encoder of pictures. */
public final class Qwen3Vl implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("qwen3_vl");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of();
    }

    @Override
    public Blueprint read(ModelConfig config) {
        ModelConfig text = config.text();
        config.pass("vision_config");
        var builder = SpecBuilder.of(text, Sizes.of(text));
        builder.rmsNorm(text, 0f);
        builder.rope(text, 500_000, false);
        builder.queryKeyNorm = QueryKeyNorm.PER_HEAD;
        builder.projectionBias = text.flag("attention_bias", "", false);
        builder.attentionOutputBias = builder.projectionBias;
        builder.gated(text, "hidden_act", Activation.SILU, false);
        builder.output = new OutputSpec(SpecBuilder.isTied(config, SpecBuilder.isTied(text, false)), false, 1f, 0f);
        return new Blueprint(builder.spec(), Names.wrapped(config, Names.huggingFace()));
    }
}
