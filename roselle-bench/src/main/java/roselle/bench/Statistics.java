package roselle.bench;

/** The mean and the spread of a few repeated measurements. */
public record Statistics(double mean, double standardDeviation) {
    /** Sample mean and sample standard deviation (n − 1) of {@code values}; the latter is 0 for a single value. */
    public static Statistics of(double... values) {
        double mean = 0;
        for (double value : values) {
            mean += value / values.length;
        }
        double squares = 0;
        for (double value : values) {
            squares += (value - mean) * (value - mean);
        }
        return new Statistics(mean, values.length < 2 ? 0 : Math.sqrt(squares / (values.length - 1)));
    }
}
