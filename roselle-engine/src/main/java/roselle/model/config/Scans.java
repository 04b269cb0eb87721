package roselle.model.config;

import roselle.model.spec.AttentionSpec;

/** Reads the sizes of selective state spaces of channels (Mamba 1), which families call by different names. */
public final class Scans {
    private static final int MOST = 1 << 24;
    private static final int MOST_TIMES = 10_000;
    private static final int WIDTHS_OF_RANK =
            16; // where a configuration does not say how many numbers times are made of

    private Scans() {}

    /**
     * What families call the sizes in config.json; GGUF has one name for each.
     *
     * @param expand how many times wider than the stream all channels together are
     * @param rank numbers that times are made of
     * @param bias whether products have one
     */
    public record Fields(
            String stateSize, String taps, String expand, String rank, String bias, String convolutionBias) {}

    /**
     * A selective state space.
     *
     * @param width numbers of the residual stream
     * @param layer one that is such, whose biases GGUF shows by having them
     * @param epsilon of the norms of what a row tells; 0 for none
     */
    public static AttentionSpec.Scan of(ModelConfig config, Fields fields, int width, int layer, double epsilon) {
        int channels = config.isGguf()
                ? config.size("", "ssm.inner_size", MOST)
                : Math.multiplyExact(width, config.size(fields.expand(), "", MOST_TIMES, 2));
        int rank = (width + WIDTHS_OF_RANK - 1) / WIDTHS_OF_RANK;
        return new AttentionSpec.Scan(
                channels,
                config.size(fields.stateSize(), "ssm.state_size", AttentionSpec.MAX_HEAD_SIZE, 16),
                config.size(fields.rank(), "ssm.time_step_rank", MOST, rank),
                config.size(fields.taps(), "ssm.conv_kernel", AttentionSpec.MAX_TAPS, 4),
                config.flagOrTensor(fields.bias(), "blk." + layer + ".ssm_in.bias", false),
                config.flagOrTensor(fields.convolutionBias(), "blk." + layer + ".ssm_conv1d.bias", true),
                epsilon > 0,
                (float) epsilon);
    }
}
