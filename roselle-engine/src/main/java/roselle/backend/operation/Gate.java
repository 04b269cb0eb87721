package roselle.backend.operation;

/**
 * A gated activation: {@code activation(min(gate, limit)) * (clamp(up, -upLimit, upLimit) + upOffset)}.
 *
 * @param limit bound of the gate; positive infinity for none
 * @param upLimit bound of the ungated half; positive infinity for none
 * @param upOffset added to the ungated half; 0 but for gpt-oss
 */
public record Gate(Activation activation, float limit, float upLimit, float upOffset) {
    /** With one bound for both halves. */
    public Gate(Activation activation, float limit, float upOffset) {
        this(activation, limit, limit, upOffset);
    }

    /** A gate without bounds, as in SwiGLU and GeGLU (Shazeer, 2020). */
    public static Gate of(Activation activation) {
        return new Gate(activation, Float.POSITIVE_INFINITY, 0f);
    }

    /** A SwiGLU with a bound of what both halves give: of SiLU's outputs by that of its inputs, since it grows where it is positive. */
    public static Gate ofBoundedSilu(float bound) {
        return new Gate(Activation.SILU, siluInverse(bound), bound, 0f);
    }

    /** Whether its halves have bounds of their own, for which not every device gates within a product. */
    public boolean hasTwoBounds() {
        return limit != upLimit;
    }

    private static float siluInverse(float bound) {
        if (!(bound > 0)) {
            throw new IllegalArgumentException("a gate bounded by " + bound + ", expected more than 0");
        }
        double least = 0;
        double most = bound + 1.0; // x - SiLU(x) is below 0.28 where x is positive
        for (double middle = most / 2; middle > least && middle < most; middle = (least + most) / 2) {
            boolean isBelow = middle / (1 + Math.exp(-middle)) < bound;
            least = isBelow ? middle : least;
            most = isBelow ? most : middle;
        }
        return (float) most;
    }
}
