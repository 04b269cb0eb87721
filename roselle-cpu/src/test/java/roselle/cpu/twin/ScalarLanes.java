package roselle.cpu.twin;

import roselle.cpu.vector.Lanes;
import roselle.cpu.vector.VectorFunctions;

/** Sums of lanes in scalars, in the order of {@link Lanes}, bit for bit. */
public final class ScalarLanes {
    private ScalarLanes() {}

    /** A sum of products. */
    public static float dot(float[] x, int xAt, float[] y, int yAt, int count) {
        var lanes = new float[Lanes.COUNT];
        for (int i = 0; i < Lanes.padded(count); i++) {
            float a = i < count ? x[xAt + i] : 0f;
            float b = i < count ? y[yAt + i] : 0f;
            lanes[i % Lanes.COUNT] = Math.fma(a, b, lanes[i % Lanes.COUNT]);
        }
        return sum(lanes);
    }

    /** The twin of {@link Lanes#sum}; it uses up {@code lanes}. */
    public static float sum(float[] lanes) {
        for (int half = lanes.length / 2; half > 0; half /= 2) {
            for (int i = 0; i < half; i++) {
                lanes[i] += lanes[i + half];
            }
        }
        return lanes[0];
    }

    /** The twin of {@link VectorFunctions#softmaxWeights}. */
    public static float softmaxWeights(float[] scores, int count, float largest) {
        var lanes = new float[Lanes.COUNT];
        for (int i = 0; i < count; i++) {
            scores[i] = VectorFunctions.exp(scores[i] - largest);
            lanes[i % Lanes.COUNT] += scores[i];
        }
        return sum(lanes);
    }
}
