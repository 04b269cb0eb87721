package roselle.model.architecture;

import java.util.Map;
import java.util.Set;
import roselle.backend.Activation;
import roselle.model.AttentionSpec.QueryKeyNorm;
import roselle.model.Blueprint;

/** Qwen 3: Llama with normalised query and key heads. */
final class Qwen3 implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("qwen3");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("qwen3");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var draft = Draft.of(config, Sizes.of(config));
        draft.rmsNorm(config, 0f);
        draft.rope(config, 10_000, false);
        draft.queryKeyNorm = QueryKeyNorm.PER_HEAD;
        draft.projectionBias = config.flag("attention_bias", "", false);
        draft.attentionOutputBias = draft.projectionBias;
        Qwen.windows(config, draft);
        draft.gated(config, "hidden_act", Activation.SILU, false);
        return new Blueprint(draft.spec(), Names.of(config, Map.of()));
    }
}
