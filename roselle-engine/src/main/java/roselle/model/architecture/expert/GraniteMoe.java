package roselle.model.architecture.expert;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import roselle.model.architecture.llama.Granite;
import roselle.model.config.Architecture;
import roselle.model.config.Mixture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Sizes;
import roselle.model.config.SpecBuilder;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;

/** Granite 3 with experts. */
public final class GraniteMoe implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("granitemoe");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("granitemoe");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        SpecBuilder builder = Granite.builder(config, Sizes.of(config));
        int size = builder.sizes.inner();
        Arrays.fill(builder.feedForwards, Mixture.of(config, size, true));
        return new Blueprint(builder.spec(), Names.of(config, NAMES));
    }

    private static final Map<Part, String> NAMES = Map.of(
            Part.ROUTER, Names.layer("block_sparse_moe.router.layer"),
            Part.EXPERT_GATE_UP, Names.layer("block_sparse_moe.input_linear"),
            Part.EXPERT_DOWN, Names.layer("block_sparse_moe.output_linear"));
}
