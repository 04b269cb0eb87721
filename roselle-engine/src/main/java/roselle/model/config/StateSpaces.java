package roselle.model.config;

import roselle.backend.operation.DeltaHeads;
import roselle.model.spec.AttentionSpec;

/** Reads the sizes of state spaces with one decay for each head (Mamba 2), which families call by different names. */
public final class StateSpaces {
    private static final int MOST = 1 << 24;
    private static final int MOST_HEADS = 10_000;
    private static final String LIMIT = "time_step_limit";

    private StateSpaces() {}

    /**
     * What families call the sizes in config.json; GGUF has one name for each.
     *
     * @param heads how many there are
     * @param headSize numbers of a head's value
     * @param expand how much wider than the stream all heads together are; empty where that is not said
     * @param bias whether the products have one
     */
    public record Fields(
            String heads,
            String headSize,
            String groups,
            String stateSize,
            String taps,
            String expand,
            String bias,
            String convolutionBias,
            String epsilon) {
        /** With {@code mamba_} before each, as hybrids have them. */
        public static Fields ofHybrids() {
            return new Fields(
                    "mamba_n_heads",
                    "mamba_d_head",
                    "mamba_n_groups",
                    "mamba_d_state",
                    "mamba_d_conv",
                    "mamba_expand",
                    "mamba_proj_bias",
                    "mamba_conv_bias",
                    "rms_norm_eps");
        }
    }

    /**
     * A state space.
     *
     * @param width numbers of the residual stream
     * @param layer one that is a state space, whose biases GGUF shows by having them
     */
    public static AttentionSpec.StateSpace of(ModelConfig config, Fields fields, int width, int layer) {
        config.pass(
                "mamba_chunk_size", "chunk_size"); // by which others cut: sums have another order, not another value
        int heads = config.size(fields.heads(), "ssm.time_step_rank", MOST_HEADS);
        var shape = new DeltaHeads(
                config.size(fields.groups(), "ssm.group_count", MOST_HEADS, 1),
                heads,
                config.size(fields.stateSize(), "ssm.state_size", AttentionSpec.MAX_HEAD_SIZE),
                headSize(config, fields, heads, width));
        float[] limit = limit(config);
        return new AttentionSpec.StateSpace(
                shape,
                config.size(fields.taps(), "ssm.conv_kernel", AttentionSpec.MAX_TAPS, 4),
                config.flagOrTensor(fields.bias(), "blk." + layer + ".ssm_in.bias", false),
                config.flagOrTensor(fields.convolutionBias(), "blk." + layer + ".ssm_conv1d.bias", true),
                limit[0],
                limit[1],
                (float) config.number(fields.epsilon(), "attention.layer_norm_rms_epsilon", 1e-5));
    }

    /** Numbers of a head: said, or by how much wider than the stream all heads together are. */
    private static int headSize(ModelConfig config, Fields fields, int heads, int width) {
        if (!config.isGguf() && fields.expand().isEmpty()) {
            return config.size(fields.headSize(), "", AttentionSpec.MAX_HEAD_SIZE);
        }
        int inner = config.isGguf()
                ? config.size("", "ssm.inner_size", MOST)
                : Math.multiplyExact(width, config.size(fields.expand(), "", MOST_HEADS, 2));
        int size = config.size(fields.headSize(), "", AttentionSpec.MAX_HEAD_SIZE, Math.max(1, inner / heads));
        if (size * heads != inner) {
            throw config.unsupported(
                    config.isGguf() ? "ssm.inner_size" : fields.heads(),
                    heads + " heads of " + size + " numbers",
                    "heads that make " + inner + " numbers together");
        }
        return size;
    }

    private static float[] limit(ModelConfig config) {
        if (config.isGguf() || !config.has(LIMIT, "")) {
            return new float[] {0f, Float.POSITIVE_INFINITY};
        }
        float[] limit = config.numbers(LIMIT);
        if (limit.length != 2) {
            throw config.unsupported(LIMIT, limit.length + " numbers", "the least and the most time of a token");
        }
        return limit;
    }
}
