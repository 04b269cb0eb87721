package roselle.quantization.encoding;

import org.jspecify.annotations.Nullable;

/** Blocks whose numbers are a scale times -1, 0 or 1, for models that were trained so. */
final class TernaryEncoders {
    private static final int ELEMENTS = 256;

    private TernaryEncoders() {}

    static void tq1_0(float[] numbers, int from, float @Nullable [] importance, byte[] target, int at) {
        int[] codes = codes(numbers, from, target, at + 52);
        digits(codes, 0, 32, 5, target, at);
        digits(codes, 160, 16, 5, target, at + 32);
        digits(codes, 240, 4, 4, target, at + 48);
    }

    /** Digits of base 3, the first one highest, as a fraction of 256 that is rounded up. */
    private static void digits(int[] codes, int first, int bytes, int perByte, byte[] target, int at) {
        for (int i = 0; i < bytes; i++) {
            int number = 0;
            for (int digit = 0; digit < 5; digit++) {
                number = number * 3 + (digit < perByte ? codes[first + digit * bytes + i] : 0);
            }
            target[at + i] = (byte) ((number * 256 + 242) / 243);
        }
    }

    static void tq2_0(float[] numbers, int from, float @Nullable [] importance, byte[] target, int at) {
        Codes.clear(target, at, 64);
        Codes.put(codes(numbers, from, target, at + 64), target, at, 32, 2, 0);
    }

    private static int[] codes(float[] numbers, int from, byte[] target, int scaleAt) {
        float scale = PlainEncoders.largestMagnitude(numbers, from, ELEMENTS);
        float inverse = scale == 0 ? 0 : 1 / scale;
        Codes.half(scale, target, scaleAt);
        var codes = new int[ELEMENTS];
        for (int i = 0; i < ELEMENTS; i++) {
            codes[i] = PlainEncoders.awayFromZero(numbers[from + i] * inverse) + 1;
        }
        return codes;
    }
}
