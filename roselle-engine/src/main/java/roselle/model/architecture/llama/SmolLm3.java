package roselle.model.architecture.llama;

import java.util.Map;
import java.util.Set;
import roselle.backend.operation.Activation;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.OutputSpec;
import roselle.model.weights.Blueprint;

/** SmolLM 3: Llama without positions in every fourth layer. */
public final class SmolLm3 implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("smollm3");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("smollm3");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var builder = SpecBuilder.of(config, Sizes.of(config));
        builder.rmsNorm(config, 0f);
        builder.rope(config, 2_000_000, config.isGguf());
        withoutPositions(config, builder);
        boolean bias = config.flag("attention_bias", "", false);
        builder.projectionBias = bias;
        builder.attentionOutputBias = bias;
        Qwen.windows(config, builder);
        builder.gated(config, "hidden_act", Activation.SILU, config.flag("mlp_bias", "", false));
        builder.output = new OutputSpec(SpecBuilder.isTied(config, true), false, 1f, 0f);
        return new Blueprint(builder.spec(), Names.of(config, Map.of()));
    }

    /** {@code no_rope_layers} has 1 for layers with positions, 0 for those without. */
    private static void withoutPositions(ModelConfig config, SpecBuilder builder) {
        int interval = config.size("no_rope_layer_interval", "", 1 << 20, 4);
        boolean named = !config.isGguf() && config.has("no_rope_layers", "");
        int[] rotated = named ? config.integers("no_rope_layers") : new int[0];
        if (named && rotated.length != builder.ropes.length) {
            throw config.unsupported("no_rope_layers", rotated.length + " numbers", "one for each layer");
        }
        for (int layer = 0; layer < builder.ropes.length; layer++) {
            boolean rotates = named ? rotated[layer] != 0 : (layer + 1) % interval != 0;
            if (!rotates) {
                builder.ropes[layer] = null;
            }
        }
    }
}
