package roselle.model.architecture.encoder;

import java.util.Map;
import java.util.Set;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;

/** RoBERTa and XLM-R: BERT whose positions are counted from behind that of padding (Liu et al., 2019). */
public final class Roberta implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("roberta", "xlm-roberta");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of();
    }

    @Override
    public Blueprint read(ModelConfig config) {
        if (config.string("position_embedding_type", "", "absolute").equals("rotary")) {
            return new JinaV3().read(config); // which was first released under XLM-R's name
        }
        Sizes sizes = Sizes.of(config);
        int first = config.integer("pad_token_id", "", 1) + 1;
        if (first < 0 || first >= sizes.context()) {
            throw config.unsupported("pad_token_id", Integer.toString(first - 1), "a place among the positions");
        }
        SpecBuilder builder = Bert.builder(config, sizes.withContext(sizes.context() - first));
        builder.firstPosition = first;
        return new Blueprint(
                builder.spec(),
                Bert.names(config, "roberta.")
                        .with(Map.of(
                                Part.OUTPUT, "lm_head", // whose matrix is the embedding
                                Part.OUTPUT_TRANSFORM, "lm_head.dense",
                                Part.OUTPUT_TRANSFORM_NORM, "lm_head.layer_norm")));
    }
}
