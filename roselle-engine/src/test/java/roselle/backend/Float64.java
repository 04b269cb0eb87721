package roselle.backend;

import roselle.backend.operation.Activation;

/** Functions in float64, computed another way than a backend would. */
public final class Float64 {
    private Float64() {}

    public static double activation(Activation activation, double x) {
        return switch (activation) {
            case NONE -> x;
            case SILU -> x / (1 + Math.exp(-x));
            case GELU -> x * normal(x);
            case GELU_TANH -> x / (1 + Math.exp(-2 * Math.sqrt(2 / Math.PI) * (x + 0.044715 * x * x * x)));
            case GELU_QUICK -> x / (1 + Math.exp(-1.702 * x));
            case RELU -> Math.max(x, 0);
            case RELU_SQUARED -> Math.max(x, 0) * Math.max(x, 0);
            case LOGISTIC -> 1 / (1 + Math.exp(-x));
        };
    }

    /** The cumulative normal distribution by Simpson's rule. */
    private static double normal(double x) {
        int steps = 2000;
        double width = x / steps;
        double sum = density(0) + density(x);
        for (int i = 1; i < steps; i++) {
            sum += (i % 2 == 0 ? 2 : 4) * density(i * width);
        }
        return 0.5 + sum * width / 3;
    }

    private static double density(double x) {
        return Math.exp(-x * x / 2) / Math.sqrt(2 * Math.PI);
    }
}
