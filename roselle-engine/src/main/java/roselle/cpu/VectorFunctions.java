package roselle.cpu;

import static roselle.cpu.Lanes.COUNT;
import static roselle.cpu.Lanes.FLOATS;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;
import roselle.backend.Activation;
import roselle.backend.Gate;

/**
 * The exponential and what is made of it, in float32, to a few units in the last place.
 *
 * <p>Each function exists for a vector and, under the same name, for a number: the scalar twin does the same operations in
 * the same order and gives the same bits.
 */
final class VectorFunctions {
    private static final float LOG2_E = 1.442695f;
    /** ln 2 in two parts: products of the first one with small integers are exact. */
    private static final float LN_2_HIGH = 0.6933594f;

    private static final float LN_2_LOW = -2.1219444e-04f;
    /** Added and taken away again, it rounds a small number to an integer, which is then in the low bits. */
    private static final float ROUND = 12582912f;

    private static final int ROUND_BITS = Float.floatToRawIntBits(ROUND);
    /** Below, the exponential is zero; above, infinite. */
    private static final float LOWEST = -104f;

    private static final float HIGHEST = 89f;

    /** Of {@code (exp(r) - 1 - r) / r^2} for |r| <= ln(2) / 2, highest power first (Cephes' expf). */
    private static final float E5 = 1.9875691e-04f;

    private static final float E4 = 0.0013981999f;
    private static final float E3 = 0.008333452f;
    private static final float E2 = 0.041665796f;
    private static final float E1 = 0.16666666f;
    private static final float E0 = 0.5f;

    private static final float TWICE_ROOT_2_OVER_PI = 1.5957692f;
    private static final float CUBIC = 0.044715f;
    private static final float QUICK = 1.702f;
    private static final float ROOT_HALF = 0.70710677f;

    /** erf(x) = x P(x^2) / Q(x^2) for |x| <= 4, where it is 1 within float32; P and Q, highest power first. */
    private static final float[] ERF_P = {
        -2.7261424e-10f, 2.7706815e-08f, -2.101024e-06f, -5.6925062e-05f, -7.3499064e-04f, -0.0029546f, -0.016096033f
    };

    private static final float[] ERF_Q = {
        -1.45660715e-05f, -2.1337405e-04f, -0.001682827f, -0.0073733293f, -0.014264739f
    };

    private VectorFunctions() {}

    static FloatVector exp(FloatVector number) {
        FloatVector x = number.max(LOWEST).min(HIGHEST);
        FloatVector rounded = x.fma(FloatVector.broadcast(FLOATS, LOG2_E), FloatVector.broadcast(FLOATS, ROUND));
        FloatVector n = rounded.sub(ROUND);
        FloatVector r = n.fma(FloatVector.broadcast(FLOATS, -LN_2_HIGH), x);
        r = n.fma(FloatVector.broadcast(FLOATS, -LN_2_LOW), r);
        FloatVector p = FloatVector.broadcast(FLOATS, E5);
        p = p.fma(r, FloatVector.broadcast(FLOATS, E4));
        p = p.fma(r, FloatVector.broadcast(FLOATS, E3));
        p = p.fma(r, FloatVector.broadcast(FLOATS, E2));
        p = p.fma(r, FloatVector.broadcast(FLOATS, E1));
        p = p.fma(r, FloatVector.broadcast(FLOATS, E0));
        p = p.fma(r.mul(r), r.add(1f));
        var whole = rounded.reinterpretAsInts().sub(ROUND_BITS);
        var half = whole.lanewise(VectorOperators.ASHR, 1);
        FloatVector one = half.add(127).lanewise(VectorOperators.LSHL, 23).reinterpretAsFloats();
        FloatVector other =
                whole.sub(half).add(127).lanewise(VectorOperators.LSHL, 23).reinterpretAsFloats();
        return p.mul(one).mul(other);
    }

    static float exp(float number) {
        float x = Math.min(Math.max(number, LOWEST), HIGHEST);
        float rounded = Math.fma(x, LOG2_E, ROUND);
        float n = rounded - ROUND;
        float r = Math.fma(n, -LN_2_HIGH, x);
        r = Math.fma(n, -LN_2_LOW, r);
        float p = Math.fma(E5, r, E4);
        p = Math.fma(p, r, E3);
        p = Math.fma(p, r, E2);
        p = Math.fma(p, r, E1);
        p = Math.fma(p, r, E0);
        p = Math.fma(p, r * r, r + 1f);
        int whole = Float.floatToRawIntBits(rounded) - ROUND_BITS;
        int half = whole >> 1;
        return p * Float.intBitsToFloat((half + 127) << 23) * Float.intBitsToFloat((whole - half + 127) << 23);
    }

    private static FloatVector erf(FloatVector number) {
        FloatVector x = number.max(-4f).min(4f);
        FloatVector square = x.mul(x);
        return x.mul(polynomial(ERF_P, square)).div(polynomial(ERF_Q, square));
    }

    private static float erf(float number) {
        float x = Math.min(Math.max(number, -4f), 4f);
        return x * polynomial(ERF_P, x * x) / polynomial(ERF_Q, x * x);
    }

    private static FloatVector polynomial(float[] coefficients, FloatVector x) {
        FloatVector sum = FloatVector.broadcast(FLOATS, coefficients[0]);
        for (int i = 1; i < coefficients.length; i++) {
            sum = sum.fma(x, FloatVector.broadcast(FLOATS, coefficients[i]));
        }
        return sum;
    }

    private static float polynomial(float[] coefficients, float x) {
        float sum = coefficients[0];
        for (int i = 1; i < coefficients.length; i++) {
            sum = Math.fma(sum, x, coefficients[i]);
        }
        return sum;
    }

    /** {@code x / (1 + exp(-steepness))}. */
    private static FloatVector sigmoidTimes(FloatVector x, FloatVector steepness) {
        return x.div(exp(steepness.neg()).add(1f));
    }

    private static float sigmoidTimes(float x, float steepness) {
        return x / (exp(-steepness) + 1f);
    }

    private static FloatVector tanhSteepness(FloatVector x) {
        FloatVector cube = x.mul(x).mul(CUBIC).mul(x);
        return x.add(cube).mul(TWICE_ROOT_2_OVER_PI);
    }

    private static float tanhSteepness(float x) {
        return (x + x * x * CUBIC * x) * TWICE_ROOT_2_OVER_PI;
    }

    static float apply(Activation activation, float x) {
        return switch (activation) {
            case NONE -> x;
            case SILU -> sigmoidTimes(x, x);
            case GELU -> x * 0.5f * (erf(x * ROOT_HALF) + 1f);
            case GELU_TANH -> sigmoidTimes(x, tanhSteepness(x));
            case GELU_QUICK -> sigmoidTimes(x, x * QUICK);
            case RELU -> Math.max(x, 0f);
            case RELU_SQUARED -> Math.max(x, 0f) * Math.max(x, 0f);
        };
    }

    /** Applies an activation to {@code count} numbers in place, and to what follows them up to a whole vector. */
    static void apply(Activation activation, float[] numbers, int at, int count) {
        switch (activation) {
            case NONE -> {}
            case SILU -> {
                for (int i = 0; i < count; i += COUNT) {
                    FloatVector x = FloatVector.fromArray(FLOATS, numbers, at + i);
                    sigmoidTimes(x, x).intoArray(numbers, at + i);
                }
            }
            case GELU -> {
                for (int i = 0; i < count; i += COUNT) {
                    FloatVector x = FloatVector.fromArray(FLOATS, numbers, at + i);
                    x.mul(0.5f).mul(erf(x.mul(ROOT_HALF)).add(1f)).intoArray(numbers, at + i);
                }
            }
            case GELU_TANH -> {
                for (int i = 0; i < count; i += COUNT) {
                    FloatVector x = FloatVector.fromArray(FLOATS, numbers, at + i);
                    sigmoidTimes(x, tanhSteepness(x)).intoArray(numbers, at + i);
                }
            }
            case GELU_QUICK -> {
                for (int i = 0; i < count; i += COUNT) {
                    FloatVector x = FloatVector.fromArray(FLOATS, numbers, at + i);
                    sigmoidTimes(x, x.mul(QUICK)).intoArray(numbers, at + i);
                }
            }
            case RELU, RELU_SQUARED -> {
                for (int i = at; i < at + count; i++) {
                    numbers[i] = apply(activation, numbers[i]);
                }
            }
        }
    }

    /** {@code gate = activation(min(gate, limit)) * (clamp(up) + offset)} in place. */
    static void gate(Gate kind, float[] gate, float[] up, int count) {
        float limit = kind.limit();
        boolean isBounded = limit != Float.POSITIVE_INFINITY;
        if (isBounded) {
            for (int i = 0; i < count; i++) {
                gate[i] = Math.min(gate[i], limit);
                up[i] = Math.max(-limit, Math.min(up[i], limit));
            }
        }
        apply(kind.activation(), gate, 0, count);
        float offset = kind.upOffset();
        for (int i = 0; i < count; i++) {
            gate[i] *= up[i] + offset;
        }
    }

    /**
     * Replaces {@code count} scores by {@code exp(score - largest)} and returns their sum; what follows them up to a whole
     * vector is lost.
     */
    static float softmaxWeights(float[] scores, int count, float largest) {
        for (int i = count; i < Lanes.padded(count); i++) {
            scores[i] = Float.NEGATIVE_INFINITY;
        }
        FloatVector sum = FloatVector.zero(FLOATS);
        for (int i = 0; i < count; i += COUNT) {
            FloatVector weight = exp(FloatVector.fromArray(FLOATS, scores, i).sub(largest));
            weight.intoArray(scores, i);
            sum = sum.add(weight);
        }
        return Lanes.sum(sum);
    }

    /** The scalar twin of {@link #softmaxWeights}. */
    static float scalarSoftmaxWeights(float[] scores, int count, float largest) {
        var lanes = new float[COUNT];
        for (int i = 0; i < count; i++) {
            scores[i] = exp(scores[i] - largest);
            lanes[i % COUNT] += scores[i];
        }
        return Lanes.scalarSum(lanes);
    }
}
