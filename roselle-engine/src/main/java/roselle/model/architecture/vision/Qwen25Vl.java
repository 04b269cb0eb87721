package roselle.model.architecture.vision;

import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.model.architecture.llama.Qwen;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.OutputSpec;
import roselle.model.weights.Blueprint;

/** Qwen 2 and 2.5 VL, text only: Qwen 2.5 beside an encoder of pictures, its configuration in a part of its own or not. */
public final class Qwen25Vl implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("qwen2_5_vl", "qwen2_vl");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("qwen2vl");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        ModelConfig text = config.text();
        config.pass("vision_config");
        config.has("", "rope.dimension_sections"); // of pictures
        var builder = SpecBuilder.of(text, Sizes.of(text));
        builder.rmsNorm(text, 0f);
        builder.rope(text, 1_000_000, false);
        builder.projectionBias = true;
        Qwen.windows(text, builder);
        builder.gated(text, "hidden_act", Activation.SILU, false);
        builder.output = new OutputSpec(SpecBuilder.isTied(config, SpecBuilder.isTied(text, false)), false, 1f, 0f);
        return new Blueprint(
                builder.spec(), config.isGguf() ? Names.gguf() : Names.wrapped(config, Names.huggingFace()));
    }
}
