package roselle.embedding;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.lang.foreign.MemorySegment;

/** How the last hidden states of a text's tokens become one vector; the names are those of sentence-transformers. */
enum Pooling {
    CLS("cls"),
    MEAN("mean"),
    MAX("max"),
    MEAN_BY_ROOT("mean_sqrt_len_tokens"),
    /** Later tokens count more: token {@code i} of n counts {@code i + 1} times. */
    WEIGHTED_MEAN("weightedmean"),
    LAST("lasttoken"),
    /** No pooling: every token's numbers, one token's behind the other's. */
    TOKENS("tokens");

    private final String label;

    Pooling(String label) {
        this.label = label;
    }

    String label() {
        return label;
    }

    /** The vector of so many rows; sums are in float64, in the order of the tokens. */
    float[] pool(MemorySegment rows, int first, int count, int width) {
        return switch (this) {
            case CLS -> row(rows, first, width);
            case LAST -> row(rows, first + count - 1, width);
            case MEAN -> sum(rows, first, count, width, false, count);
            case MEAN_BY_ROOT -> sum(rows, first, count, width, false, Math.sqrt(count));
            case WEIGHTED_MEAN -> sum(rows, first, count, width, true, count * (count + 1.0) / 2);
            case MAX -> highest(rows, first, count, width);
            case TOKENS -> rows(rows, first, count, width);
        };
    }

    private static float[] row(MemorySegment rows, int row, int width) {
        return rows(rows, row, 1, width);
    }

    private static float[] rows(MemorySegment rows, int first, int count, int width) {
        var numbers = new float[Math.multiplyExact(count, width)];
        MemorySegment.copy(rows, JAVA_FLOAT, (long) first * width * Float.BYTES, numbers, 0, numbers.length);
        return numbers;
    }

    private static float[] sum(MemorySegment rows, int first, int count, int width, boolean rises, double divisor) {
        var sums = new double[width];
        for (int token = 0; token < count; token++) {
            double weight = rises ? token + 1 : 1;
            long at = (long) (first + token) * width;
            for (int i = 0; i < width; i++) {
                sums[i] += weight * rows.getAtIndex(JAVA_FLOAT, at + i);
            }
        }
        var mean = new float[width];
        for (int i = 0; i < width; i++) {
            mean[i] = (float) (sums[i] / divisor);
        }
        return mean;
    }

    private static float[] highest(MemorySegment rows, int first, int count, int width) {
        float[] most = row(rows, first, width);
        for (int token = 1; token < count; token++) {
            long at = (long) (first + token) * width;
            for (int i = 0; i < width; i++) {
                most[i] = Math.max(most[i], rows.getAtIndex(JAVA_FLOAT, at + i));
            }
        }
        return most;
    }
}
