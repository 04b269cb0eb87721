package roselle.model.architecture;

import java.util.Map;
import java.util.Set;
import roselle.backend.Activation;
import roselle.model.Blueprint;
import roselle.model.OutputSpec;

/** SmolLM 3: Llama without positions in every fourth layer. */
final class SmolLm3 implements Architecture {
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
        var draft = Draft.of(config, Sizes.of(config));
        draft.rmsNorm(config, 0f);
        draft.rope(config, 2_000_000, config.isGguf());
        withoutPositions(config, draft);
        boolean bias = config.flag("attention_bias", "", false);
        draft.projectionBias = bias;
        draft.attentionOutputBias = bias;
        Qwen.windows(config, draft);
        draft.gated(config, "hidden_act", Activation.SILU, config.flag("mlp_bias", "", false));
        draft.output = new OutputSpec(Draft.isTied(config, true), false, 1f, 0f);
        return new Blueprint(draft.spec(), Names.of(config, Map.of()));
    }

    /** {@code no_rope_layers} has 1 for layers with positions, 0 for those without. */
    private static void withoutPositions(ModelConfig config, Draft draft) {
        int interval = config.size("no_rope_layer_interval", "", 1 << 20, 4);
        boolean named = !config.isGguf() && config.has("no_rope_layers", "");
        int[] rotated = named ? config.integers("no_rope_layers") : new int[0];
        if (named && rotated.length != draft.ropes.length) {
            throw config.unsupported("no_rope_layers", rotated.length + " numbers", "one for each layer");
        }
        for (int layer = 0; layer < draft.ropes.length; layer++) {
            boolean rotates = named ? rotated[layer] != 0 : (layer + 1) % interval != 0;
            if (!rotates) {
                draft.ropes[layer] = null;
            }
        }
    }
}
