package roselle.model.architecture.hybrid;

import java.util.Set;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.DecoderSpec;
import roselle.model.spec.OutputSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.WeightNames;

/** Qwen 3.5 and those of its kind, text only: Qwen 3 Next with a dense feed-forward or experts, wrapped beside an encoder of pictures. */
public final class Qwen35 implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("qwen3_5", "qwen3_5_text", "qwen3_5_moe", "qwen3_5_moe_text");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("qwen35", "qwen35moe");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        ModelConfig text = config.text();
        boolean isWrapped = text != config;
        config.pass("vision_config");
        config.has("", "rope.dimension_sections"); // which pairs turn with a picture's rows and columns
        SpecBuilder builder = Qwen3Next.builder(text);
        boolean isTied = SpecBuilder.isTied(text, false);
        builder.output = new OutputSpec(isWrapped ? SpecBuilder.isTied(config, isTied) : isTied, false, 1f, 0f);
        if (text.has("num_experts", "expert_count")) {
            Qwen3Next.experts(text, builder, true);
        }
        DecoderSpec spec = builder.spec(Qwen3Next.attentions(text, builder, config.isGguf()));
        WeightNames names = Qwen3Next.names(config);
        return new Blueprint(spec, isWrapped ? Names.wrapped(config, names) : names);
    }
}
