package roselle.model.architecture.dense;

import java.util.Set;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Ropes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.RopeScaling;
import roselle.model.spec.RopeSpec;
import roselle.model.weights.Blueprint;

/** OLMo 3: OLMo 2 with a window in three layers of four, whose positions are never scaled; as GGUF also OLMo 2. */
public final class Olmo3 implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("olmo3");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of("olmo2");
    }

    @Override
    public Blueprint read(ModelConfig config) {
        SpecBuilder builder = Olmo2.builder(config);
        int window = config.isGguf()
                ? config.window("", "attention.sliding_window")
                : config.size("sliding_window", "", 1 << 30);
        builder.windows(config, window, layer -> (layer + 1) % 4 != 0);
        ropes(config, builder);
        return new Blueprint(builder.spec(), Names.of(config, Olmo2.NAMES));
    }

    private static final double THETA = 500_000;

    private static void ropes(ModelConfig config, SpecBuilder builder) {
        var ropes = new Ropes(config, builder.sizes.headSize(), builder.sizes.context(), THETA, false);
        RopeSpec full;
        RopeSpec sliding;
        if (config.isGguf()) {
            double theta = config.number("", "rope.freq_base", THETA);
            full = ropes.read();
            sliding = ropes.gguf(config.number("", "rope.freq_base_swa", theta), new RopeScaling.None());
        } else if (config.object("rope_parameters").isPresent()) {
            full = ropes.read("full_attention");
            sliding = ropes.read("sliding_attention");
        } else {
            full = ropes.read();
            sliding = ropes.plain(config.number("rope_theta", "", THETA), 1);
        }
        builder.ropes(full, sliding);
    }
}
