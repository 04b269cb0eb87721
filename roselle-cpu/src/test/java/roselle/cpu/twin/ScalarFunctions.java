package roselle.cpu.twin;

import roselle.backend.operation.Activation;

/** Activation functions of one number, computed in float64 and rounded once. */
public final class ScalarFunctions {
    private static final double ROOT_2_OVER_PI = Math.sqrt(2 / Math.PI);

    private ScalarFunctions() {}

    public static float apply(Activation activation, float x) {
        return switch (activation) {
            case NONE -> x;
            case SILU -> (float) (x * sigmoid(x));
            case GELU -> (float) (x * 0.5 * (1 + erf(x / Math.sqrt(2))));
            case GELU_TANH -> (float) (x * 0.5 * (1 + Math.tanh(ROOT_2_OVER_PI * (x + 0.044715 * x * (double) x * x))));
            case GELU_QUICK -> (float) (x * sigmoid(1.702 * x));
            case RELU -> x < 0 ? 0f : x;
            case RELU_SQUARED -> x < 0 ? 0f : x * x;
            case LOGISTIC -> (float) sigmoid(x);
        };
    }

    public static double sigmoid(double x) {
        return 1 / (1 + Math.exp(-x));
    }

    /** The error function by its series of positive terms (Abramowitz and Stegun 7.1.6), to about 1e-15. */
    public static double erf(double x) {
        if (Math.abs(x) > 6) {
            return Math.signum(x);
        }
        double term = x;
        double sum = x;
        for (int n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
            term *= 2 * x * x / (2 * n + 1);
            sum += term;
        }
        return 2 / Math.sqrt(Math.PI) * Math.exp(-x * x) * sum;
    }
}
