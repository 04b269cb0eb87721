package roselle.model.architecture.llama;

import java.util.Arrays;
import roselle.model.config.ModelConfig;
import roselle.model.config.SpecBuilder;
import roselle.model.spec.FeedForwardSpec;

/** What the Qwen families have in common. */
public final class Qwen {
    private Qwen() {}

    /** A window in the upper layers, if it is switched on at all. */
    public static void windows(ModelConfig config, SpecBuilder builder) {
        int window = config.window("sliding_window", "");
        int first = config.integer("max_window_layers", "", 0);
        boolean slides = config.flag("use_sliding_window", "", false);
        builder.windows(config, slides ? window : 0, layer -> layer >= first);
    }

    public static int expertSize(ModelConfig config) {
        return config.size("moe_intermediate_size", "expert_feed_forward_length", 1 << 24);
    }

    /** Experts in each layer but those that are said to be dense. */
    public static void experts(ModelConfig config, SpecBuilder builder, FeedForwardSpec.Experts experts) {
        int step = config.size("decoder_sparse_step", "", 1 << 20, 1);
        int[] dense =
                config.isGguf() || !config.has("mlp_only_layers", "") ? new int[0] : config.integers("mlp_only_layers");
        for (int layer = 0; layer < builder.feedForwards.length; layer++) {
            int index = layer;
            if ((layer + 1) % step == 0 && Arrays.stream(dense).noneMatch(one -> one == index)) {
                builder.feedForwards[layer] = experts;
            }
        }
    }
}
