package roselle.model.spec;

/**
 * Rotary position embedding of a layer.
 *
 * @param dimensions how many numbers of a head turn; even
 * @param theta base of the wavelengths
 * @param interleaved whether pairs are neighbours, else half the turning numbers apart
 */
public record RopeSpec(int dimensions, double theta, boolean interleaved, RopeScaling scaling) {
    public RopeSpec {
        if (dimensions < 2 || dimensions % 2 != 0 || !(theta > 0)) {
            throw new IllegalArgumentException("cannot rotate " + dimensions + " numbers with base " + theta);
        }
        if (scaling instanceof RopeScaling.LongRope factors
                && (factors.shortFactors().size() != dimensions / 2
                        || factors.longFactors().size() != dimensions / 2)) {
            throw new IllegalArgumentException(
                    "rotary positions have " + factors.shortFactors().size() + " short and "
                            + factors.longFactors().size() + " long factors, expected " + dimensions / 2);
        }
    }

    /**
     * The angle by which each pair turns from one position to the next.
     *
     * @param contextLimit tokens of the longest sequence that will be run: scalings that depend on the length of a
     *     sequence (dynamic, LongRoPE) use it for all, so that a token's bits do not depend on what follows it
     */
    public float[] inverseFrequencies(int contextLimit) {
        var frequencies = new float[dimensions / 2];
        double base = scaling.base(theta, dimensions, contextLimit);
        for (int pair = 0; pair < frequencies.length; pair++) {
            float wavelength = (float) Math.pow(base, 2.0 * pair / dimensions); // rounded as the references do
            frequencies[pair] = 1 / wavelength;
        }
        scaling.scale(frequencies, theta, contextLimit);
        return frequencies;
    }
}
