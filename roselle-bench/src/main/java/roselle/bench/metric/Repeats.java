package roselle.bench.metric;

import java.util.Arrays;

/**
 * A few values of the same measurement, and what can be said of their mean.
 *
 * @param mean of the values
 * @param deviation their sample standard deviation (n − 1); 0 for a single value
 * @param count of the values
 */
public record Repeats(double mean, double deviation, int count) {
    /** Student's t for 97.5 % by degrees of freedom, from 1. */
    private static final double[] STUDENT = {
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
        2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042
    };

    private static final double NORMAL = 1.960;

    public static Repeats of(double... values) {
        double mean = Arrays.stream(values).average().orElse(Double.NaN);
        double squares = Arrays.stream(values)
                .map(value -> (value - mean) * (value - mean))
                .sum();
        double deviation = values.length < 2 ? 0 : Math.sqrt(squares / (values.length - 1));
        return new Repeats(mean, deviation, values.length);
    }

    /** Half the width of the 95 % confidence interval of the mean; infinite for a single value, which tells nothing. */
    public double halfWidth() {
        return count < 2 ? Double.POSITIVE_INFINITY : student(count - 1) * deviation / Math.sqrt(count);
    }

    /**
     * Whether another mean differs by more than chance explains: Welch's test at 95 %, with at least two values each.
     *
     * <p>The degrees of freedom are those of Welch and Satterthwaite, rounded down.
     */
    public boolean differsFrom(Repeats other) {
        if (count < 2 || other.count < 2) {
            return false;
        }
        double a = deviation * deviation / count;
        double b = other.deviation * other.deviation / other.count;
        if (a + b == 0) {
            return mean != other.mean;
        }
        double freedom = (a + b) * (a + b) / (a * a / (count - 1) + b * b / (other.count - 1));
        return Math.abs(mean - other.mean) > student((int) Math.max(1, freedom)) * Math.sqrt(a + b);
    }

    private static double student(int freedom) {
        return freedom <= STUDENT.length ? STUDENT[freedom - 1] : NORMAL;
    }
}
