package roselle.cpu.machine.gemm;

import static roselle.cpu.machine.gemm.Int8ConversionCode.BLOCK_BYTES;

import java.lang.foreign.MemorySegment;
import roselle.cpu.machine.panel.Panel;
import roselle.tensor.DataType;

/** The scalar twin of {@link Int8GemmCode}, {@link Avx2Int8GemmCode} and {@link Int8ConversionCode}, bit for bit. */
public final class Int8Gemm {
    private static final int BLOCK = 32;

    private Int8Gemm() {}

    /** What codes of weights are moved by to be unsigned. */
    private static int moved(Panel panel) {
        return switch (panel.codes()) {
            case BYTES -> 128;
            case NIBBLES -> 8;
            case PLAIN_NIBBLES, SIX_BITS, BFLOAT16, SPLIT, FLOAT16, FLOAT32 -> 0;
        };
    }

    /** The product of a row of float32, padded with zeros, with an output of a panel that begins at {@code at}. */
    public static float dot(Panel panel, DataType type, MemorySegment weights, long at, int output, float[] x) {
        float sum = 0;
        int[] q = new int[BLOCK];
        var scaledSums = new float[x.length / BLOCK];
        for (int block = 0; block < scaledSums.length; block++) {
            float scale = quantize(x, block * BLOCK, q);
            int qs = 0;
            for (int each : q) {
                qs += each;
            }
            scaledSums[block] = qs * scale;
            int dot = -moved(panel) * qs;
            for (int i = 0; i < BLOCK; i++) {
                int k = block * BLOCK + i;
                int code = (int) PanelGemm.value(panel, type, weights, at, output, k) + moved(panel);
                dot += code * q[i];
            }
            float weight = PanelGemm.scale(panel, weights, at + panel.scalesAt(x.length), output, block * BLOCK);
            sum = Math.fma((float) dot, weight * scale, sum);
        }
        for (int block = 0; block < scaledSums.length && panel.hasMinima(); block++) {
            int k = block * BLOCK;
            long unitAt = at + panel.minimaAt(x.length) + k / panel.unit() * (long) panel.minimumBytes();
            float minimum = PanelGemm.factor(panel, weights, unitAt, output, k, true);
            sum = Math.fma(-minimum, scaledSums[block], sum);
        }
        return sum;
    }

    /** Fills {@code q} with a block's integers and returns their scale. */
    private static float quantize(float[] x, int at, int[] q) {
        int most = 0;
        for (int i = 0; i < BLOCK; i++) {
            most = Math.max(most, Float.floatToRawIntBits(x[at + i]) & Integer.MAX_VALUE);
        }
        float largest = Float.intBitsToFloat(most);
        float inverse = 127f / largest;
        for (int i = 0; i < BLOCK; i++) {
            float y = x[at + i] * inverse;
            boolean fits = Math.abs(y) < 0x1p31f;
            q[i] = fits ? (int) Math.rint(y) : -127; // of what is no number
        }
        return largest * (1f / 127);
    }

    static long rowBytes(int paddedColumns) {
        return (long) paddedColumns / BLOCK * BLOCK_BYTES;
    }
}
