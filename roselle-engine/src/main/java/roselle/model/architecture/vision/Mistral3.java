package roselle.model.architecture.vision;

import java.util.Set;
import roselle.model.architecture.llama.Mistral;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.OutputSpec;
import roselle.model.weights.Blueprint;

/** Mistral Small 3.1 and 3.2, and Ministral 3, text only: Mistral beside an encoder of pictures. */
public final class Mistral3 implements Architecture {
    private static final Set<String> TEXTS = Set.of("mistral", "ministral3");

    @Override
    public Set<String> modelTypes() {
        return Set.of("mistral3");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("mistral3");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        if (config.isGguf()) {
            return new Blueprint(Mistral.builder(config).spec(), Names.gguf());
        }
        ModelConfig text = config.text();
        if (text == config || !TEXTS.contains(text.family())) {
            throw config.unsupported("text_config", text == config ? "absent" : text.family(), "mistral or ministral3");
        }
        config.pass("vision_config", "image_token_index", "multimodal_projector_bias", "projector_hidden_act");
        config.pass("spatial_merge_size", "vision_feature_layer");
        SpecBuilder builder = Mistral.builder(text);
        boolean hasOutput = config.hasTensor("lm_head.weight") || config.hasTensor("language_model.lm_head.weight");
        boolean isTied = SpecBuilder.isTied(config, SpecBuilder.isTied(text, !hasOutput));
        builder.output = new OutputSpec(isTied, false, 1f, 0f);
        return new Blueprint(builder.spec(), Names.wrapped(config, Names.huggingFace()));
    }
}
