package roselle.backend.operation;

/**
 * A gated activation: {@code activation(min(gate, limit)) * (clamp(up, -limit, limit) + upOffset)}.
 *
 * @param limit bound of both inputs; positive infinity for none
 * @param upOffset added to the ungated half; 0 but for gpt-oss
 */
public record Gate(Activation activation, float limit, float upOffset) {
    /** A gate without bounds, as in SwiGLU and GeGLU (Shazeer, 2020). */
    public static Gate of(Activation activation) {
        return new Gate(activation, Float.POSITIVE_INFINITY, 0f);
    }
}
