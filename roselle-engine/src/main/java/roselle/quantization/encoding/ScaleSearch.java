package roselle.quantization.encoding;

/**
 * Searches the scale, and the minimum, with which a few numbers are rounded least wrongly, each error squared and weighted.
 *
 * <p>A scale on trial says which code each number has; the best scale for these codes follows by least squares, and with it the
 * error. Trials lie around the scale that maps the largest number to the farthest level: a little larger, and outliers are cut off
 * for the sake of all others.
 */
final class ScaleSearch {
    private static final int TRIALS = 9; // to each side
    private static final float TRIAL = 0.1f; // of a step of the levels

    private float scale;
    private float minimum;
    private float ofScale;
    private float ofMinimum;

    /** What the last search found. */
    float scale() {
        return scale;
    }

    /** What the last search found: what is subtracted from each number's multiple of the scale, not below zero. */
    float minimum() {
        return minimum;
    }

    /** How much the error grows with a wrong scale. */
    float scaleWeight() {
        return ofScale;
    }

    /** How much the error grows with a wrong minimum. */
    float minimumWeight() {
        return ofMinimum;
    }

    /** Finds {@code number = scale * level}. */
    void symmetric(float[] numbers, int from, float[] weights, int count, Levels levels) {
        scale = 0;
        ofScale = 0;
        float extreme = 0;
        for (int i = 0; i < count; i++) {
            extreme = Math.abs(numbers[from + i]) > Math.abs(extreme) ? numbers[from + i] : extreme;
        }
        if (Math.abs(extreme) < Float.MIN_NORMAL) {
            return;
        }
        double best = 0; // how much of the weighted squares is explained
        for (int trial = -TRIALS; trial <= TRIALS; trial++) {
            float inverse = levels.far() * (1 + trial * TRIAL * levels.step()) / extreme;
            float products = 0;
            float squares = 0;
            for (int i = 0; i < count; i++) {
                float number = numbers[from + i];
                float level = levels.nearest(number * inverse);
                float weighted = weights[i] * level;
                products += weighted * number;
                squares += weighted * level;
            }
            if (squares > 0 && (double) products * products > best * squares) {
                best = (double) products * products / squares;
                scale = products / squares;
                ofScale = squares;
            }
        }
    }

    /** Finds {@code number = scale * code - minimum} with codes from 0 on. */
    void affine(float[] numbers, int from, float[] weights, int count, int highest) {
        float least = 0;
        float greatest = numbers[from];
        double sum = 0;
        double sumOfNumbers = 0;
        double sumOfSquares = 0;
        for (int i = 0; i < count; i++) {
            float number = numbers[from + i];
            least = Math.min(least, number);
            greatest = Math.max(greatest, number);
            sum += weights[i];
            sumOfNumbers += (double) weights[i] * number;
            sumOfSquares += (double) weights[i] * number * number;
        }
        scale = 0;
        minimum = -least;
        ofScale = 0;
        ofMinimum = (float) sum;
        if (greatest - least < Float.MIN_NORMAL) {
            return;
        }
        double best = Double.POSITIVE_INFINITY;
        for (int trial = -TRIALS; trial <= TRIALS; trial++) {
            float inverse = (highest + trial * TRIAL) / (greatest - least);
            double codes = 0;
            double squares = 0;
            double products = 0;
            for (int i = 0; i < count; i++) {
                float number = numbers[from + i];
                float steps = (number - least) * inverse;
                float code = ((steps > highest ? highest : steps) + Codes.ROUNDING) - Codes.ROUNDING;
                float weighted = weights[i] * code;
                codes += weighted;
                squares += weighted * code;
                products += weighted * number;
            }
            double determinant = sum * squares - codes * codes;
            if (determinant <= 0) {
                continue;
            }
            double slope = (sum * products - codes * sumOfNumbers) / determinant;
            double start = (squares * sumOfNumbers - codes * products) / determinant;
            if (start > 0) {
                slope = products / squares;
                start = 0;
            }
            double error = sumOfSquares - slope * products - start * sumOfNumbers;
            if (error < best) {
                best = error;
                scale = (float) slope;
                minimum = (float) -start;
                ofScale = (float) squares;
            }
        }
    }
}
