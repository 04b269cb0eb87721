package roselle.model.architecture.vision;

import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import roselle.backend.operation.Activation;
import roselle.model.architecture.llama.Qwen;
import roselle.model.config.Architecture;
import roselle.model.config.Mixture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.AttentionSpec.QueryKeyNorm;
import roselle.model.spec.OutputSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;
import roselle.model.weights.WeightNames;

/** Qwen 3 VL, text only, without experts or with: Qwen 3 beside an encoder of pictures. */
public final class Qwen3Vl implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("qwen3_vl", "qwen3_vl_moe");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("qwen3vl", "qwen3vlmoe");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        ModelConfig text = config.text();
        config.pass("vision_config");
        config.has("", "rope.dimension_sections"); // of pictures
        config.has("", "n_deepstack_layers"); // of pictures
        var builder = SpecBuilder.of(text, Sizes.of(text));
        builder.rmsNorm(text, 0f);
        builder.rope(text, 500_000, false);
        builder.queryKeyNorm = QueryKeyNorm.PER_HEAD;
        builder.projectionBias = text.flag("attention_bias", "", false);
        builder.attentionOutputBias = builder.projectionBias;
        builder.gated(text, "hidden_act", Activation.SILU, false);
        if (text.has("num_experts", "expert_count") || text.has("num_local_experts", "")) {
            text.has("norm_topk_prob", ""); // the weights of those chosen are divided by their sum whatever it says
            Qwen.experts(text, builder, Mixture.of(text, Qwen.expertSize(text), true));
        }
        builder.output = new OutputSpec(SpecBuilder.isTied(config, SpecBuilder.isTied(text, false)), false, 1f, 0f);
        return new Blueprint(builder.spec(), config.isGguf() ? Names.gguf() : names(config, builder.sizes));
    }

    /** Published checkpoints have their experts transposed, those that transformers 5 writes have not. */
    private static WeightNames names(ModelConfig config, Sizes sizes) {
        WeightNames names = Names.wrapped(config, NAMES);
        boolean isPlain = IntStream.range(0, sizes.layers())
                .mapToObj(layer -> names.name(Part.EXPERT_DOWN, layer).orElseThrow())
                .filter(config::hasTensor)
                .anyMatch(name -> config.extent(name, 1) == sizes.width());
        return isPlain ? names.with(WeightNames.Layout.PLAIN) : names;
    }

    private static final WeightNames NAMES = Names.huggingFace()
            .with(Map.of(
                    Part.EXPERT_GATE_UP, Names.layer("mlp.experts.gate_up_proj"),
                    Part.EXPERT_DOWN, Names.layer("mlp.experts.down_proj")))
            .with(WeightNames.Layout.TRANSPOSED_EXPERTS);
}
