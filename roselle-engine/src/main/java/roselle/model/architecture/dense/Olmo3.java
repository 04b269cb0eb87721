package roselle.model.architecture.dense;

import java.util.Set;
import roselle.model.config.Architecture;
import roselle.model.config.ModelConfig;
import roselle.model.config.Names;
import roselle.model.config.Ropes;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.RopeSpec;
import roselle.model.weights.Blueprint;

/** OLMo 3: OLMo 2 with a window in three layers of four, whose positions are never scaled. */
public final class Olmo3 implements Architecture {
    @Override
    public Set<String> modelTypes() {
        return Set.of("olmo3");
    }

    @Override
    public Set<String> ggufNames() {
        return Set.of();
    }

    @Override
    public Blueprint read(ModelConfig config) {
        SpecBuilder builder = Olmo2.builder(config);
        builder.windows(config, config.size("sliding_window", "", 1 << 30), layer -> (layer + 1) % 4 != 0);
        ropes(config, builder);
        return new Blueprint(builder.spec(), Names.huggingFace().with(Olmo2.NAMES));
    }

    private static final double THETA = 500_000;

    private static void ropes(ModelConfig config, SpecBuilder builder) {
        var ropes = new Ropes(config, builder.sizes.headSize(), builder.sizes.context(), THETA, false);
        boolean apart = config.object("rope_parameters").isPresent();
        RopeSpec full = apart ? ropes.read("full_attention") : ropes.read();
        RopeSpec sliding =
                apart ? ropes.read("sliding_attention") : ropes.plain(config.number("rope_theta", "", THETA), 1);
        for (int layer = 0; layer < builder.ropes.length; layer++) {
            builder.ropes[layer] = builder.windows[layer] == 0 ? full : sliding;
        }
    }
}
