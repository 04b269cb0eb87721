package roselle.quantization.encoding;

import org.jspecify.annotations.Nullable;

/** Numbers that are rounded one by one. */
final class PlainEncoders {
    private PlainEncoders() {}

    static void float32(float[] numbers, int from, float @Nullable [] importance, byte[] target, int at) {
        int bits = Float.floatToRawIntBits(numbers[from]);
        for (int i = 0; i < Float.BYTES; i++) {
            target[at + i] = (byte) (bits >> (i * Byte.SIZE));
        }
    }

    static void float16(float[] numbers, int from, float @Nullable [] importance, byte[] target, int at) {
        Codes.half(numbers[from], target, at);
    }

    static void bfloat16(float[] numbers, int from, float @Nullable [] importance, byte[] target, int at) {
        int bits = Float.floatToRawIntBits(numbers[from]);
        int rounded = Float.isNaN(numbers[from]) ? (bits >> 16) | 0x40 : (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
        target[at] = (byte) rounded;
        target[at + 1] = (byte) (rounded >> Byte.SIZE);
    }

    static void q8_0(float[] numbers, int from, float @Nullable [] importance, byte[] target, int at) {
        float scale = largestMagnitude(numbers, from, 32) / 127;
        float inverse = scale == 0 ? 0 : 1 / scale;
        Codes.half(scale, target, at);
        for (int i = 0; i < 32; i++) {
            target[at + 2 + i] = (byte) awayFromZero(numbers[from + i] * inverse);
        }
    }

    static float largestMagnitude(float[] numbers, int from, int count) {
        float largest = 0;
        for (int i = from; i < from + count; i++) {
            largest = Math.max(largest, Math.abs(numbers[i]));
        }
        return largest;
    }

    /** The nearest integer; of two the one farther from zero. */
    static int awayFromZero(float number) {
        float magnitude = Math.abs(number);
        int below = (int) magnitude;
        int rounded = magnitude - below >= 0.5f ? below + 1 : below;
        return number < 0 ? -rounded : rounded;
    }
}
