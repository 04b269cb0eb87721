package roselle.cpu.vector;

import static roselle.cpu.vector.Lanes.COUNT;
import static roselle.cpu.vector.Lanes.FLOATS;

import java.util.List;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import roselle.backend.operation.Activation;
import roselle.backend.operation.Gate;

/**
 * The exponential and what is made of it, in float32, to a few units in the last place.
 *
 * <p>Each function exists for the numbers of an array and for one number: the scalar twin does the same operations in the
 * same order and gives the same bits. The vector form of an exponential is written out in each of the four loops that need
 * one, because the compiler may leave any method of ours a call, and what crosses a call is a vector on the heap.
 */
public final class VectorFunctions {
    public static final float LOG2_E = 1.442695f;
    /** ln 2 in two parts: products of the first one with small integers are exact. */
    public static final float LN_2_HIGH = 0.6933594f;

    public static final float LN_2_LOW = -2.1219444e-04f;
    /** Added and taken away again, it rounds a small number to an integer, which is then in the low bits. */
    public static final float ROUND = 12582912f;

    private static final int ROUND_BITS = Float.floatToRawIntBits(ROUND);
    /** Below, the exponential is zero; above, infinite. */
    public static final float LOWEST = -104f;

    public static final float HIGHEST = 89f;

    private static final float E5 = 1.9875691e-04f;
    private static final float E4 = 0.0013981999f;
    private static final float E3 = 0.008333452f;
    private static final float E2 = 0.041665796f;
    private static final float E1 = 0.16666666f;
    private static final float E0 = 0.5f;

    /** Of {@code (exp(r) - 1 - r) / r^2} for |r| <= ln(2) / 2, highest power first (Cephes' expf). */
    public static final List<Float> EXPONENTIAL = List.of(E5, E4, E3, E2, E1, E0);

    /** Beyond it a sigmoid is 0 or 1, and its cube is finite. */
    public static final float STEEPEST = 1e4f;

    /** From here on, a tanh is 1 within float32. */
    private static final float TANH_IS_1 = 10f;

    private static final int SIGN = Integer.MIN_VALUE;

    public static final float TWICE_ROOT_2_OVER_PI = 1.5957692f;
    public static final float CUBIC = 0.044715f;
    public static final float QUICK = 1.702f;
    public static final float ROOT_HALF = 0.70710677f;

    /** erf(x) = x P(x^2) / Q(x^2) for |x| <= 4, where it is 1 within float32; P and Q, highest power first. */
    public static final List<Float> ERF_P = List.of(
            -2.7261424e-10f,
            2.7706815e-08f,
            -2.101024e-06f,
            -5.6925062e-05f,
            -7.3499064e-04f,
            -0.0029546f,
            -0.016096033f);

    public static final List<Float> ERF_Q =
            List.of(-1.45660715e-05f, -2.1337405e-04f, -0.001682827f, -0.0073733293f, -0.014264739f);

    private static final float[] P = numbers(ERF_P);
    private static final float[] Q = numbers(ERF_Q);

    private VectorFunctions() {}

    private static float[] numbers(List<Float> list) {
        var numbers = new float[list.size()];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = list.get(i);
        }
        return numbers;
    }

    /**
     * Replaces each number by its exponential, and what follows them up to a whole vector: {@code x} in units of ln 2,
     * rounded, is an integer in the low bits; the polynomial gives the exponential of what that leaves; two powers of two,
     * because the result may be subnormal, put them together.
     */
    public static void exp(float[] numbers, int at, int count) {
        for (int i = at; i < at + count; i += COUNT) {
            FloatVector x =
                    FloatVector.fromArray(FLOATS, numbers, i).max(LOWEST).min(HIGHEST);
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
            IntVector whole = rounded.reinterpretAsInts().sub(ROUND_BITS);
            IntVector half = whole.lanewise(VectorOperators.ASHR, 1);
            IntVector other = whole.sub(half);
            p = p.mul(half.add(127).lanewise(VectorOperators.LSHL, 23).reinterpretAsFloats());
            p = p.mul(other.add(127).lanewise(VectorOperators.LSHL, 23).reinterpretAsFloats());
            p.intoArray(numbers, i);
        }
    }

    public static float exp(float number) {
        float x = Math.min(Math.max(number, LOWEST), HIGHEST);
        float rounded = Math.fma(x, LOG2_E, ROUND);
        float r = left(x, rounded);
        int whole = Float.floatToRawIntBits(rounded) - ROUND_BITS;
        int half = whole >> 1;
        float rest = Math.fma(curve(r), r * r, r + 1f);
        return rest * Float.intBitsToFloat((half + 127) << 23) * Float.intBitsToFloat((whole - half + 127) << 23);
    }

    private static float left(float x, float rounded) {
        float n = rounded - ROUND;
        return Math.fma(n, -LN_2_LOW, Math.fma(n, -LN_2_HIGH, x));
    }

    private static float curve(float r) {
        float p = Math.fma(E5, r, E4);
        p = Math.fma(p, r, E3);
        p = Math.fma(p, r, E2);
        p = Math.fma(p, r, E1);
        return Math.fma(p, r, E0);
    }

    /** By {@code exp(2 |x|) - 1}, which keeps its precision where it is small. */
    static float tanh(float number) {
        float twice = Math.min(Math.abs(number), TANH_IS_1) * 2f;
        float rounded = Math.fma(twice, LOG2_E, ROUND);
        float r = left(twice, rounded);
        float power = Float.intBitsToFloat((Float.floatToRawIntBits(rounded) - ROUND_BITS + 127) << 23);
        float lessOne = Math.fma(power, Math.fma(curve(r), r * r, r), power - 1f);
        return Math.copySign(lessOne / (lessOne + 2f), number);
    }

    private static float erf(float number) {
        float x = Math.min(Math.max(number, -4f), 4f);
        return x * polynomial(P, x * x) / polynomial(Q, x * x);
    }

    private static float polynomial(float[] coefficients, float x) {
        float sum = coefficients[0];
        for (int i = 1; i < coefficients.length; i++) {
            sum = Math.fma(sum, x, coefficients[i]);
        }
        return sum;
    }

    /** {@code x / (1 + exp(-factor * (x + cubic * x^3)))}: SiLU, and GELU by way of a sigmoid or of a tanh. */
    private static void sigmoidTimes(float[] numbers, int at, int count, float factor, float cubic) {
        for (int i = at; i < at + count; i += COUNT) {
            FloatVector number = FloatVector.fromArray(FLOATS, numbers, i);
            FloatVector near = number.max(-STEEPEST).min(STEEPEST);
            FloatVector cube = near.mul(near).mul(cubic).mul(near);
            FloatVector x = near.add(cube).mul(-factor).max(LOWEST).min(HIGHEST);
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
            IntVector whole = rounded.reinterpretAsInts().sub(ROUND_BITS);
            IntVector half = whole.lanewise(VectorOperators.ASHR, 1);
            IntVector other = whole.sub(half);
            p = p.mul(half.add(127).lanewise(VectorOperators.LSHL, 23).reinterpretAsFloats());
            p = p.mul(other.add(127).lanewise(VectorOperators.LSHL, 23).reinterpretAsFloats());
            number.div(p.add(1f)).intoArray(numbers, i);
        }
    }

    private static void gelu(float[] numbers, int at, int count) {
        for (int i = at; i < at + count; i += COUNT) {
            FloatVector x = FloatVector.fromArray(FLOATS, numbers, i);
            FloatVector y = x.mul(ROOT_HALF).max(-4f).min(4f);
            FloatVector square = y.mul(y);
            FloatVector above = FloatVector.broadcast(FLOATS, P[0]);
            above = above.fma(square, FloatVector.broadcast(FLOATS, P[1]));
            above = above.fma(square, FloatVector.broadcast(FLOATS, P[2]));
            above = above.fma(square, FloatVector.broadcast(FLOATS, P[3]));
            above = above.fma(square, FloatVector.broadcast(FLOATS, P[4]));
            above = above.fma(square, FloatVector.broadcast(FLOATS, P[5]));
            above = above.fma(square, FloatVector.broadcast(FLOATS, P[6]));
            FloatVector below = FloatVector.broadcast(FLOATS, Q[0]);
            below = below.fma(square, FloatVector.broadcast(FLOATS, Q[1]));
            below = below.fma(square, FloatVector.broadcast(FLOATS, Q[2]));
            below = below.fma(square, FloatVector.broadcast(FLOATS, Q[3]));
            below = below.fma(square, FloatVector.broadcast(FLOATS, Q[4]));
            x.mul(0.5f).mul(y.mul(above).div(below).add(1f)).intoArray(numbers, i);
        }
    }

    private static float sigmoidTimes(float x, float factor, float cubic) {
        float near = Math.min(Math.max(x, -STEEPEST), STEEPEST);
        return x / (exp((near + near * near * cubic * near) * -factor) + 1f);
    }

    public static float apply(Activation activation, float x) {
        return switch (activation) {
            case NONE -> x;
            case SILU -> sigmoidTimes(x, 1f, 0f);
            case GELU -> x * 0.5f * (erf(x * ROOT_HALF) + 1f);
            case GELU_TANH -> sigmoidTimes(x, TWICE_ROOT_2_OVER_PI, CUBIC);
            case GELU_QUICK -> sigmoidTimes(x, QUICK, 0f);
            case RELU -> Math.max(x, 0f);
            case RELU_SQUARED -> Math.max(x, 0f) * Math.max(x, 0f);
            case LOGISTIC -> sigmoid(x);
        };
    }

    /** Applies an activation to {@code count} numbers in place, and to what follows them up to a whole vector. */
    public static void apply(Activation activation, float[] numbers, int at, int count) {
        switch (activation) {
            case NONE -> {}
            case SILU -> sigmoidTimes(numbers, at, count, 1f, 0f);
            case GELU -> gelu(numbers, at, count);
            case GELU_TANH -> sigmoidTimes(numbers, at, count, TWICE_ROOT_2_OVER_PI, CUBIC);
            case GELU_QUICK -> sigmoidTimes(numbers, at, count, QUICK, 0f);
            case RELU, RELU_SQUARED -> {
                for (int i = at; i < at + count; i++) {
                    numbers[i] = apply(activation, numbers[i]);
                }
            }
            case LOGISTIC -> sigmoid(numbers, at, count);
        }
    }

    /** {@code gate = activation(min(gate, limit)) * (clamp(up) + offset)} in place. */
    public static void gate(Gate kind, float[] gate, float[] up, int count) {
        float limit = kind.limit();
        float upLimit = kind.upLimit();
        boolean isBounded = limit != Float.POSITIVE_INFINITY || upLimit != Float.POSITIVE_INFINITY;
        if (isBounded) {
            for (int i = 0; i < count; i++) {
                gate[i] = Math.min(gate[i], limit);
                up[i] = Math.max(-upLimit, Math.min(up[i], upLimit));
            }
        }
        apply(kind.activation(), gate, 0, count);
        float offset = kind.upOffset();
        for (int i = 0; i < count; i++) {
            gate[i] *= up[i] + offset;
        }
    }

    /** {@code numbers = 1 / (1 + exp(-number))} in place, and what follows them up to a whole vector. */
    public static void sigmoid(float[] numbers, int count) {
        sigmoid(numbers, 0, count);
    }

    private static void sigmoid(float[] numbers, int at, int count) {
        for (int i = at; i < at + count; i++) {
            numbers[i] = -numbers[i];
        }
        exp(numbers, at, count);
        for (int i = at; i < at + count; i++) {
            numbers[i] = 1f / (numbers[i] + 1f);
        }
    }

    public static float sigmoid(float x) {
        return 1f / (exp(-x) + 1f);
    }

    /**
     * {@code x = softCap * tanh(scale * x / softCap)}, or {@code scale * x} where there is no cap, in place; and what follows
     * up to a whole vector.
     */
    public static void cap(float[] numbers, int count, float scale, float softCap) {
        cap(numbers, 0, count, scale, softCap);
    }

    /** The same from a place in the array on. */
    public static void cap(float[] numbers, int at, int count, float scale, float softCap) {
        if (softCap == 0) {
            for (int i = at; i < at + count; i++) {
                numbers[i] *= scale;
            }
            return;
        }
        for (int i = at; i < at + count; i += COUNT) {
            FloatVector number =
                    FloatVector.fromArray(FLOATS, numbers, i).mul(scale).div(softCap);
            FloatVector x = number.abs().min(TANH_IS_1).mul(2f);
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
            IntVector whole = rounded.reinterpretAsInts().sub(ROUND_BITS);
            FloatVector power =
                    whole.add(127).lanewise(VectorOperators.LSHL, 23).reinterpretAsFloats();
            FloatVector lessOne = power.fma(p.fma(r.mul(r), r), power.sub(1f));
            IntVector size = lessOne.div(lessOne.add(2f)).reinterpretAsInts().and(~SIGN);
            IntVector sign = number.reinterpretAsInts().and(SIGN);
            size.or(sign).reinterpretAsFloats().mul(softCap).intoArray(numbers, i);
        }
    }

    public static float capped(float number, float scale, float softCap) {
        float x = number * scale;
        return softCap == 0 ? x : tanh(x / softCap) * softCap;
    }

    /**
     * Replaces {@code count} scores by {@code exp(score - largest)} and returns their sum; what follows them up to a whole
     * vector is lost. There is a vector's room in {@code lanes}.
     */
    public static float softmaxWeights(float[] scores, int count, float largest, float[] lanes) {
        softmaxWeights(scores, 0, count, largest, lanes, 0);
        return Lanes.sum(lanes);
    }

    /** The same from a place in the array on; the sum's lanes go to a place of their own. */
    public static void softmaxWeights(float[] scores, int at, int count, float largest, float[] lanes, int lanesAt) {
        for (int i = at + count; i < at + Lanes.padded(count); i++) {
            scores[i] = Float.NEGATIVE_INFINITY;
        }
        FloatVector sum = FloatVector.zero(FLOATS);
        for (int i = at; i < at + count; i += COUNT) {
            FloatVector x = FloatVector.fromArray(FLOATS, scores, i)
                    .sub(largest)
                    .max(LOWEST)
                    .min(HIGHEST);
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
            IntVector whole = rounded.reinterpretAsInts().sub(ROUND_BITS);
            IntVector half = whole.lanewise(VectorOperators.ASHR, 1);
            IntVector other = whole.sub(half);
            p = p.mul(half.add(127).lanewise(VectorOperators.LSHL, 23).reinterpretAsFloats());
            p = p.mul(other.add(127).lanewise(VectorOperators.LSHL, 23).reinterpretAsFloats());
            p.intoArray(scores, i);
            sum = sum.add(p);
        }
        sum.intoArray(lanes, lanesAt);
    }
}
