package roselle.model.architecture;

import java.util.Map;
import java.util.Set;
import roselle.backend.Activation;
import roselle.model.AttentionSpec.QueryKeyNorm;
import roselle.model.BlockSpec;
import roselle.model.Blueprint;
import roselle.model.Part;

/** OLMo 2: norms on what each half adds, and on all queries and all keys together. */
final class Olmo2 implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("olmo2");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("olmo2");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var draft = Draft.of(config, Sizes.of(config));
        draft.rmsNorm(config, 0f);
        draft.block = new BlockSpec(false, true, false, false, 1f);
        draft.rope(config, 10_000, false);
        draft.queryKeyNorm = QueryKeyNorm.ALL_HEADS;
        draft.projectionBias = config.flag("attention_bias", "", false);
        draft.attentionOutputBias = draft.projectionBias;
        draft.gated(config, "hidden_act", Activation.SILU, false);
        return new Blueprint(draft.spec(), Names.of(config, NAMES));
    }

    private static final Map<Part, String> NAMES = Map.of(
            Part.POST_ATTENTION_NORM, Names.layer("post_attention_layernorm"),
            Part.POST_FEED_FORWARD_NORM, Names.layer("post_feedforward_layernorm"));
}
