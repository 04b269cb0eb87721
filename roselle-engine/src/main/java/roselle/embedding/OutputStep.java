package roselle.embedding;

import java.util.function.DoubleUnaryOperator;
import roselle.tensor.Dequantizer;
import roselle.tensor.Tensor;

/** What happens to a pooled vector, one step after the other. */
sealed interface OutputStep {
    /** The vector behind the step; the one before may be changed. */
    float[] apply(float[] vector);

    /** Numbers of a vector that had so many. */
    int width(int before);

    /** {@code activation(weight * vector + bias)}. */
    final class Dense implements OutputStep {
        private final float[]
                transposed; // [inputs, outputs]: the inner loop goes over outputs, whose sums are independent
        private final float[] bias;
        private final int inputs;
        private final DoubleUnaryOperator activation;

        /** A matrix {@code [outputs, inputs]} with a bias, which may be of zeros. */
        Dense(Tensor weight, float[] bias, DoubleUnaryOperator activation) {
            this(Dequantizer.all(weight), bias, activation);
        }

        /** One number, the product of the vector with another. */
        static Dense score(float[] weights) {
            return new Dense(weights, new float[1], x -> x);
        }

        /** A matrix of any type that numbers are stored in, without a bias or a function. */
        static Dense plain(Tensor weight) {
            return new Dense(weight, new float[(int) weight.shape().extent(0)], x -> x);
        }

        private Dense(float[] rows, float[] bias, DoubleUnaryOperator activation) {
            inputs = rows.length / bias.length;
            this.bias = bias;
            this.activation = activation;
            transposed = new float[rows.length];
            for (int i = 0; i < rows.length; i++) {
                transposed[i % inputs * bias.length + i / inputs] = rows[i];
            }
        }

        @Override
        public float[] apply(float[] vector) {
            int outputs = bias.length;
            float[] sums = bias.clone();
            for (int input = 0; input < inputs; input++) {
                float factor = vector[input];
                int at = input * outputs;
                for (int output = 0; output < outputs; output++) {
                    sums[output] += factor * transposed[at + output];
                }
            }
            for (int output = 0; output < outputs; output++) {
                sums[output] = (float) activation.applyAsDouble(sums[output]);
            }
            return sums;
        }

        @Override
        public int width(int before) {
            return bias.length;
        }
    }

    /** A function of each number. */
    record Each(DoubleUnaryOperator function) implements OutputStep {
        @Override
        public float[] apply(float[] vector) {
            for (int i = 0; i < vector.length; i++) {
                vector[i] = (float) function.applyAsDouble(vector[i]);
            }
            return vector;
        }

        @Override
        public int width(int before) {
            return before;
        }
    }

    /** A layer norm (Ba et al., 2016); sums are in float64. */
    final class LayerNorm implements OutputStep {
        private final float[] weight;
        private final float[] bias;
        private final double epsilon;

        LayerNorm(float[] weight, float[] bias, double epsilon) {
            this.weight = weight;
            this.bias = bias;
            this.epsilon = epsilon;
        }

        @Override
        public float[] apply(float[] vector) {
            double mean = 0;
            for (float number : vector) {
                mean += number;
            }
            mean /= vector.length;
            double variance = 0;
            for (float number : vector) {
                variance += (number - mean) * (number - mean);
            }
            double factor = 1 / Math.sqrt(variance / vector.length + epsilon);
            for (int i = 0; i < vector.length; i++) {
                vector[i] = (float) ((vector[i] - mean) * factor * weight[i] + bias[i]);
            }
            return vector;
        }

        @Override
        public int width(int before) {
            return before;
        }
    }

    /** A vector of length 1 in the same direction; one of zeros stays. */
    record UnitLength() implements OutputStep {
        /** As PyTorch's {@code normalize}: what is shorter is divided by this. */
        private static final double SHORTEST = 1e-12;

        @Override
        public float[] apply(float[] vector) {
            double squares = 0;
            for (float number : vector) {
                squares += (double) number * number;
            }
            double length = Math.max(SHORTEST, Math.sqrt(squares));
            for (int i = 0; i < vector.length; i++) {
                vector[i] = (float) (vector[i] / length);
            }
            return vector;
        }

        @Override
        public int width(int before) {
            return before;
        }
    }
}
