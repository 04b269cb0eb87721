package roselle.bench.metric;

import java.util.Arrays;
import java.util.stream.DoubleStream;

/**
 * Values in order, and their percentiles.
 *
 * <p>The q-quantile of n values x₀ ≤ … ≤ xₙ₋₁ is linear between the two nearest: with h = q·(n − 1), x⌊h⌋ + (h − ⌊h⌋)·(x⌊h⌋₊₁ −
 * x⌊h⌋), as NumPy's default. A percentile p needs about 100/(100 − p) values before it is more than the largest one: {@link
 * #supports} tells.
 */
public final class Distribution {
    private final double[] sorted;

    private Distribution(double[] sorted) {
        this.sorted = sorted;
    }

    public static Distribution of(double... values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return new Distribution(sorted);
    }

    public static Distribution of(DoubleStream values) {
        return of(values.toArray());
    }

    public int count() {
        return sorted.length;
    }

    public boolean isEmpty() {
        return sorted.length == 0;
    }

    /** The quantile for {@code q} from 0 to 1; not a number where there are no values. */
    public double quantile(double q) {
        if (isEmpty()) {
            return Double.NaN;
        }
        double place = q * (sorted.length - 1);
        int below = (int) Math.floor(place);
        int above = Math.min(below + 1, sorted.length - 1);
        return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
    }

    public double p50() {
        return quantile(0.50);
    }

    public double p90() {
        return quantile(0.90);
    }

    public double p99() {
        return quantile(0.99);
    }

    public double min() {
        return quantile(0);
    }

    public double max() {
        return quantile(1);
    }

    public double mean() {
        return isEmpty() ? Double.NaN : Arrays.stream(sorted).sum() / sorted.length;
    }

    /** The share of values that are at most {@code limit}. */
    public double shareWithin(double limit) {
        if (isEmpty()) {
            return Double.NaN;
        }
        return (double) Arrays.stream(sorted).filter(value -> value <= limit).count() / sorted.length;
    }

    /** Whether at least one value lies beyond the q-quantile, so that it is not merely the largest value. */
    public boolean supports(double q) {
        return sorted.length * (1 - q) >= 1 - 1e-9;
    }

    /** The quantiles at 0, 1/steps, … 1: enough to draw the distribution. */
    public double[] curve(int steps) {
        var curve = new double[isEmpty() ? 0 : steps + 1];
        Arrays.setAll(curve, i -> quantile((double) i / steps));
        return curve;
    }
}
