package roselle.model.architecture.dense;

import java.util.Map;
import java.util.Set;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.BlockSpec;
import roselle.model.weights.Blueprint;
import roselle.model.weights.Part;

/** VaultGemma: Gemma 2 without the norms behind attention and feed-forward. */
public final class VaultGemma implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("vaultgemma");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of();
    }

    @Override
    public Blueprint read(ModelConfig config) {
        SpecBuilder builder = Gemma2.builder(config);
        builder.block = new BlockSpec(true, false, false, false, 1f);
        Map<Part, String> names = Map.of(Part.FEED_FORWARD_NORM, Names.layer("pre_feedforward_layernorm"));
        return new Blueprint(builder.spec(), Names.of(config, names));
    }
}
