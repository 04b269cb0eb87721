package roselle.bench.metric;

/**
 * How a variant differs from the one it is compared with, in one metric.
 *
 * @param metric in words
 * @param base repeats of the first
 * @param variant repeats of the other
 */
public record Difference(String metric, Repeats base, Repeats variant) {
    /** Of the means, as a share of the first. */
    public double share() {
        return (variant.mean() - base.mean()) / base.mean();
    }

    /** Whether chance alone explains it no more, at 95 %. */
    public boolean exceedsNoise() {
        return base.differsFrom(variant);
    }
}
