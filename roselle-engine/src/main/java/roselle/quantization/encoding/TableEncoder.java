package roselle.quantization.encoding;

import org.jspecify.annotations.Nullable;

/** Blocks of codes for 16 values that lie closer near zero: FP4 with scales of 8 bits, and IQ4_NL. */
final class TableEncoder implements Encoder.OneBlock {
    /** The values of IQ4_NL and IQ4_XS. */
    static final Levels STEPS = Levels.of(-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113);

    /** The values of E2M1 (OCP Microscaling Formats 1.0), doubled to be whole. */
    private static final float[] E2M1_DOUBLED = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

    private static final float MOST = 448; // of E4M3

    private final ScaleSearch search = new ScaleSearch();
    private final float[] weights = new float[32];
    private final int[] codes = new int[32];

    private TableEncoder() {}

    static TableEncoder iq4_nl() {
        return new TableEncoder();
    }

    @Override
    public void encode(float[] numbers, int from, float @Nullable [] importance, byte[] target, int at) {
        float meanSquare = ColumnWeights.meanSquare(numbers, from, 32);
        ColumnWeights.fill(numbers, from, 32, meanSquare, importance, weights);
        search.symmetric(numbers, from, weights, 32, STEPS);
        float scale = Codes.half(search.scale(), target, at);
        float inverse = scale == 0 ? 0 : 1 / scale;
        for (int i = 0; i < 32; i++) {
            codes[i] = STEPS.code(numbers[from + i] * inverse);
        }
        Codes.clear(target, at + 2, 16);
        Codes.put(codes, target, at + 2, 16, 4, 0);
    }

    /** A power of two for 32 numbers, such that the largest is between 4 and 8 of it, as the specification proposes. */
    static void mxfp4(float[] numbers, int from, float @Nullable [] importance, byte[] target, int at) {
        float largest = PlainEncoders.largestMagnitude(numbers, from, 32);
        int exponent = 0;
        if (largest > 0) {
            float logarithm = (float) (Math.log(largest) / Math.log(2));
            exponent = Math.clamp((int) Math.floor(logarithm) - 2 + 127, 0, 254);
        }
        target[at] = (byte) exponent;
        pairs(numbers, from, 32, Math.scalb(1f, exponent - 128), target, at + 1);
    }

    /** A scale of E4M3 for each 16 of 64 numbers. */
    static void nvfp4(float[] numbers, int from, float @Nullable [] importance, byte[] target, int at) {
        for (int group = 0; group < 4; group++) {
            int first = from + 16 * group;
            int code = unsignedE4m3(PlainEncoders.largestMagnitude(numbers, first, 16) / 6);
            target[at + group] = (byte) code;
            int exponent = code >> 3;
            float scale = exponent == 0 ? Math.scalb((float) code, -9) : Math.scalb(1 + (code & 7) / 8f, exponent - 7);
            pairs(numbers, first, 16, scale / 2, target, at + 4 + 8 * group);
        }
    }

    private static int unsignedE4m3(float number) {
        float bounded = Math.min(number, MOST);
        int exponent = Math.getExponent(bounded);
        if (exponent < -6) {
            return Math.min((int) (bounded * 512 + 0.5f), 7);
        }
        int code = Math.round(Math.scalb(bounded, 3 - exponent))
                + (exponent + 6) * 8; // a mantissa of 16 is the next exponent's 8
        return Math.min(code, 0x7E);
    }

    /** Codes of the nearest values, of equally near ones the first; the second half of the numbers above the first. */
    private static void pairs(float[] numbers, int from, int count, float scale, byte[] target, int at) {
        for (int i = 0; i < count / 2; i++) {
            int low = nearest(numbers[from + i], scale);
            target[at + i] = (byte) (low | (nearest(numbers[from + count / 2 + i], scale) << 4));
        }
    }

    private static int nearest(float number, float scale) {
        int best = 0;
        float least = Math.abs(number);
        for (int code = 1; code < E2M1_DOUBLED.length; code++) {
            float error = Math.abs(E2M1_DOUBLED[code] * scale - number);
            if (error < least) {
                least = error;
                best = code;
            }
        }
        return best;
    }
}
