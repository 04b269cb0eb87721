package roselle.cpu.machine.gemm;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.MemorySegment;
import roselle.cpu.machine.Compute;
import roselle.cpu.machine.panel.BrainFloat;
import roselle.cpu.machine.panel.Constants;
import roselle.cpu.machine.panel.ConversionCode;
import roselle.cpu.machine.panel.Panel;
import roselle.tensor.DataType;

/** The scalar twin of {@link GemmCode} and {@link ConversionCode}, bit for bit. */
public final class PanelGemm {
    private PanelGemm() {}

    /** A row of activations as products see it: rounded, and padded with zeros. */
    public static float[] activations(float[] x, int columns, int paddedColumns, Compute compute) {
        var rounded = new float[paddedColumns];
        for (int k = 0; k < columns; k++) {
            rounded[k] = compute == Compute.BF16 ? BrainFloat.toFloat(BrainFloat.of(x[k])) : x[k];
        }
        return rounded;
    }

    /** The sum of 32 activations. */
    static float blockSum(float[] x, int at, Compute compute) {
        var lanes = new float[16];
        for (int i = 0; i < 16; i++) {
            lanes[i] = compute == Compute.BF16 ? x[at + 2 * i] + x[at + 2 * i + 1] : x[at + i] + x[at + 16 + i];
        }
        for (int half = 8; half > 0; half /= 2) {
            for (int i = 0; i < half; i++) {
                lanes[i] += lanes[i + half];
            }
        }
        return lanes[0];
    }

    /** The product of a row of {@link #activations} with an output of a panel that begins at {@code at}. */
    public static float dot(
            Panel panel, DataType type, MemorySegment weights, long at, int output, float[] x, Compute compute) {
        float sum = 0;
        float blockSum = 0;
        for (int k = 0; k < x.length; k += 2) {
            if (panel.hasScales() && k % panel.block() == 0) {
                blockSum = 0;
            }
            float even = value(panel, type, weights, at, output, k);
            float odd = value(panel, type, weights, at, output, k + 1);
            blockSum = pair(blockSum, even, odd, x[k], x[k + 1], compute);
            if (panel.hasScales() && (k + 2) % panel.block() == 0) {
                float scale = scale(panel, weights, at + panel.scalesAt(x.length), output, k);
                sum = Math.fma(blockSum, scale, sum);
            }
        }
        if (!panel.hasScales()) {
            return blockSum;
        }
        return panel.hasMinima() ? minima(panel, weights, at + panel.minimaAt(x.length), output, x, compute, sum) : sum;
    }

    /** The product of a row of {@link #activations} with as many weights of their precision, in panels without scales. */
    public static float dot(float[] weights, float[] x, Compute compute) {
        float sum = 0;
        for (int k = 0; k < x.length; k += 2) {
            sum = pair(sum, weights[k], weights[k + 1], x[k], x[k + 1], compute);
        }
        return sum;
    }

    private static float pair(float sum, float even, float odd, float x0, float x1, Compute compute) {
        if (compute == Compute.F32) {
            return Math.fma(x1, odd, Math.fma(x0, even, sum));
        }
        return flushed(
                Math.fma(flushed(x0), flushed(even), flushed(Math.fma(flushed(x1), flushed(odd), flushed(sum)))));
    }

    /** Gemm of bfloat16 take subnormal numbers for zeros. */
    public static float flushed(float value) {
        return Math.abs(value) < Float.MIN_NORMAL ? Math.copySign(0f, value) : value;
    }

    private static float minima(
            Panel panel, MemorySegment weights, long minimaAt, int output, float[] x, Compute compute, float before) {
        float sum = before;
        for (int k = 0; k < x.length; k += panel.block()) {
            float minimum =
                    factor(panel, weights, minimaAt + k / panel.unit() * (long) panel.minimumBytes(), output, k, true);
            sum = Math.fma(-minimum, blockSum(x, k, compute), sum);
        }
        return sum;
    }

    public static float scale(Panel panel, MemorySegment weights, long scalesAt, int output, int k) {
        return factor(panel, weights, scalesAt + k / panel.unit() * (long) panel.scaleBytes(), output, k, false);
    }

    /** The scale or minimum of a block, from those of its unit. */
    public static float factor(Panel panel, MemorySegment weights, long unitAt, int output, int k, boolean isMinimum) {
        float whole = Float.float16ToFloat(weights.get(JAVA_SHORT, unitAt + 2L * output));
        if (panel.unit() == panel.block()) {
            return whole;
        }
        int block = k % panel.unit() / panel.block();
        byte part = weights.get(JAVA_BYTE, unitAt + 32 + 16L * block + output);
        return (panel.scales() == Panel.Factors.SIGNED && !isMinimum ? part : part & 0xFF) * whole;
    }

    public static float value(Panel panel, DataType type, MemorySegment weights, long at, int output, int k) {
        long pair = k / 2;
        return switch (panel.codes()) {
            case BYTES -> weights.get(JAVA_BYTE, at + pair * 32 + k % 2 * 16L + output);
            case NIBBLES, PLAIN_NIBBLES -> {
                int word = weights.get(JAVA_SHORT, at + pair / 4 * 64 + 4L * output + k % 2 * 2L);
                yield Constants.value(type, word >> (pair % 4 * 4));
            }
            case SIX_BITS -> Constants.value(type, sixBits(weights, at, output, k));
            case BFLOAT16 -> BrainFloat.toFloat(weights.get(JAVA_SHORT, at + pair * 64 + 4L * output + k % 2 * 2L));
            case SPLIT -> throw new IllegalArgumentException("a split number is no one number");
            case FLOAT16 -> Float.float16ToFloat(weights.get(JAVA_SHORT, at + k * 32L + output * 2L));
            case FLOAT32 -> weights.get(JAVA_FLOAT, at + k * 64L + output * 4L);
        };
    }

    private static int sixBits(MemorySegment weights, long at, int output, int k) {
        long words = at + k / 16 * 192L + 4L * output + k % 2 * 2L;
        int a = weights.get(JAVA_SHORT, words) & 0xFFFF;
        int b = weights.get(JAVA_SHORT, words + 64) & 0xFFFF;
        int c = weights.get(JAVA_SHORT, words + 128) & 0xFFFF;
        return switch (k % 16 / 2) {
            case 0 -> a;
            case 1 -> a >> 6;
            case 2 -> a >> 12 | (c >> 8 & 0x30);
            case 3 -> b;
            case 4 -> b >> 6;
            case 5 -> b >> 12 | (c >> 10 & 0x30);
            case 6 -> c;
            default -> c >> 6;
        };
    }
}
