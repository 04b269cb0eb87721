package roselle.model.architecture;

import java.util.Map;
import java.util.Set;
import roselle.backend.Activation;
import roselle.model.Blueprint;
import roselle.model.OutputSpec;

/** Gemma: scaled embeddings, and norms that store the distance from 1. */
final class Gemma implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("gemma");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("gemma");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        var draft = Draft.of(config, Sizes.of(config));
        draft.rmsNorm(config, 1f);
        draft.rope(config, 10_000, false);
        draft.embeddingScale = (float) Math.sqrt(draft.sizes.width());
        draft.projectionBias = config.flag("attention_bias", "", false);
        draft.attentionOutputBias = draft.projectionBias;
        String field = config.has("hidden_activation", "") ? "hidden_activation" : "hidden_act";
        config.has("hidden_act", "");
        draft.gated(config, field, Activation.GELU_TANH, false);
        draft.output = new OutputSpec(Draft.isTied(config, true), false, 1f, 0f);
        return new Blueprint(draft.spec(), Names.of(config, Map.of()));
    }
}
