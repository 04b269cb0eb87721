package roselle.quantization.encoding;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** How much the squared error of each number counts: by its column's importance, and more where the number itself is large. */
final class ColumnWeights {
    private ColumnWeights() {}

    /** Fills weights of {@code count} numbers of a block, whose mean square is given. */
    static void fill(
            float[] numbers, int from, int count, float meanSquare, float @Nullable [] importance, float[] weights) {
        float sum = 0;
        for (int i = 0; i < count; i++) {
            float number = numbers[from + i];
            float ofColumn = importance == null ? 1 : importance[from + i];
            weights[i] = ofColumn * (float) Math.sqrt(2 * meanSquare + number * number);
            sum += weights[i];
        }
        if (!(sum > 0)) { // columns that nothing was seen in
            Arrays.fill(weights, 0, count, 1);
        }
    }

    static float meanSquare(float[] numbers, int from, int count) {
        double sum = 0;
        for (int i = from; i < from + count; i++) {
            sum += (double) numbers[i] * numbers[i];
        }
        return (float) (sum / count);
    }
}
