package roselle.model.architecture.encoder;

import java.util.Set;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Sizes;
import roselle.model.weights.Blueprint;

/** ELECTRA: BERT that was trained to tell replaced words (Clark et al., 2020); the small ones' narrower embeddings are refused. */
public final class Electra implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("electra");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of();
    }

    @Override
    public Blueprint read(ModelConfig config) {
        Sizes sizes = Sizes.of(config);
        int embedding = config.integer("embedding_size", "", sizes.width());
        if (embedding != sizes.width()) {
            throw config.unsupported(
                    "embedding_size", Integer.toString(embedding), "the hidden size, " + sizes.width());
        }
        return new Blueprint(Bert.builder(config, sizes).spec(), Bert.names(config, "electra."));
    }
}
