package roselle.tensor;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Turns floats into the blocks of a data type, for tests: plain rounding to the nearest step of each block's range.
 *
 * <p>Real converters search for better scales; what matters here is only that the result is a valid tensor near to the
 * original.
 */
public final class Quantizer {
    private static final ValueLayout.OfShort SHORT =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private Quantizer() {}

    /** A tensor of another type with nearly the same numbers, in heap memory. */
    public static Tensor convert(Tensor tensor, DataType type) {
        float[] numbers = Dequantizer.all(tensor);
        return new Tensor(tensor.name(), type, tensor.shape(), quantize(type, numbers));
    }

    /** The blocks of {@code numbers}, a whole number of them. */
    public static MemorySegment quantize(DataType type, float[] numbers) {
        MemorySegment target = MemorySegment.ofArray(new byte[Math.toIntExact(type.rowBytes(numbers.length))]);
        for (int i = 0; i < numbers.length / type.blockElements(); i++) {
            quantizeBlock(type, numbers, i * type.blockElements(), target.asSlice((long) i * type.blockBytes()));
        }
        return target;
    }

    private static void quantizeBlock(DataType type, float[] numbers, int start, MemorySegment target) {
        switch (type) {
            case F32 -> target.set(INT, 0, Float.floatToRawIntBits(numbers[start]));
            case F16 -> target.set(SHORT, 0, Float.floatToFloat16(numbers[start]));
            case BF16 -> target.set(SHORT, 0, bfloat16(numbers[start]));
            case Q8_0 -> q8_0(numbers, start, target);
            case Q4_0 -> q4_0(numbers, start, target);
            case Q4_1 -> q4_1(numbers, start, target);
            case Q5_0 -> q5_0(numbers, start, target);
            case Q5_1 -> q5_1(numbers, start, target);
            case Q4_K -> q4_k(numbers, start, target);
            case Q6_K -> q6_k(numbers, start, target);
            default -> throw new IllegalArgumentException("no test makes tensors of " + type);
        }
    }

    /** The upper half of the float's bits, rounded to the nearest, ties to even. */
    static short bfloat16(float number) {
        int bits = Float.floatToRawIntBits(number);
        if (Float.isNaN(number)) {
            return (short) ((bits >>> 16) | 0x40);
        }
        return (short) ((bits + 0x7FFF + ((bits >>> 16) & 1)) >>> 16);
    }

    private static void q8_0(float[] numbers, int start, MemorySegment target) {
        float scale = half(target, 0, largestMagnitude(numbers, start, 32) / 127);
        for (int i = 0; i < 32; i++) {
            putByte(target, 2 + i, step(numbers[start + i], 0, scale, -127, 127));
        }
    }

    private static void q4_0(float[] numbers, int start, MemorySegment target) {
        float scale = half(target, 0, signedExtreme(numbers, start) / -8);
        for (int i = 0; i < 16; i++) {
            int low = step(numbers[start + i], 0, scale, -8, 7) + 8;
            int high = step(numbers[start + 16 + i], 0, scale, -8, 7) + 8;
            putByte(target, 2 + i, low | (high << 4));
        }
    }

    private static void q4_1(float[] numbers, int start, MemorySegment target) {
        float minimum = half(target, 2, least(numbers, start, 32));
        float scale = half(target, 0, (greatest(numbers, start, 32) - minimum) / 15);
        for (int i = 0; i < 16; i++) {
            int low = step(numbers[start + i], minimum, scale, 0, 15);
            int high = step(numbers[start + 16 + i], minimum, scale, 0, 15);
            putByte(target, 4 + i, low | (high << 4));
        }
    }

    private static void q5_0(float[] numbers, int start, MemorySegment target) {
        float scale = half(target, 0, signedExtreme(numbers, start) / -16);
        int fifths = 0;
        for (int i = 0; i < 16; i++) {
            int low = step(numbers[start + i], 0, scale, -16, 15) + 16;
            int high = step(numbers[start + 16 + i], 0, scale, -16, 15) + 16;
            putByte(target, 6 + i, (low & 0xF) | ((high & 0xF) << 4));
            fifths |= ((low >> 4) << i) | ((high >> 4) << (i + 16));
        }
        target.set(INT, 2, fifths);
    }

    private static void q5_1(float[] numbers, int start, MemorySegment target) {
        float minimum = half(target, 2, least(numbers, start, 32));
        float scale = half(target, 0, (greatest(numbers, start, 32) - minimum) / 31);
        int fifths = 0;
        for (int i = 0; i < 16; i++) {
            int low = step(numbers[start + i], minimum, scale, 0, 31);
            int high = step(numbers[start + 16 + i], minimum, scale, 0, 31);
            putByte(target, 8 + i, (low & 0xF) | ((high & 0xF) << 4));
            fifths |= ((low >> 4) << i) | ((high >> 4) << (i + 16));
        }
        target.set(INT, 4, fifths);
    }

    private static void q4_k(float[] numbers, int start, MemorySegment target) {
        float[] minimums = new float[8];
        float[] ranges = new float[8];
        for (int group = 0; group < 8; group++) {
            int first = start + 32 * group;
            minimums[group] = Math.max(0, -least(numbers, first, 32)); // subtracted, so never negative
            ranges[group] = Math.max(0, greatest(numbers, first, 32) + minimums[group]) / 15;
        }
        float scale = half(target, 0, greatest(ranges, 0, 8) / 63);
        float minimumScale = half(target, 2, greatest(minimums, 0, 8) / 63);
        for (int group = 0; group < 8; group++) {
            int groupScale = step(ranges[group], 0, scale, 0, 63);
            int groupMinimum = step(minimums[group], 0, minimumScale, 0, 63);
            putScales(target, group, groupScale, groupMinimum);
            for (int i = 0; i < 32; i++) {
                float number = numbers[start + 32 * group + i];
                int quant = step(number, -minimumScale * groupMinimum, scale * groupScale, 0, 15);
                orByte(target, 16 + 32 * (group / 2) + i, quant << (4 * (group % 2)));
            }
        }
    }

    private static void putScales(MemorySegment target, int group, int scale, int minimum) {
        if (group < 4) {
            orByte(target, 4 + group, scale);
            orByte(target, 8 + group, minimum);
        } else {
            orByte(target, 8 + group, (scale & 0xF) | ((minimum & 0xF) << 4));
            orByte(target, group, (scale >> 4) << 6);
            orByte(target, 4 + group, (minimum >> 4) << 6);
        }
    }

    private static void q6_k(float[] numbers, int start, MemorySegment target) {
        float[] scales = new float[16];
        for (int group = 0; group < 16; group++) {
            scales[group] = largestMagnitude(numbers, start + 16 * group, 16) / 31;
        }
        float scale = half(target, 208, greatest(scales, 0, 16) / 127);
        for (int i = 0; i < 256; i++) {
            int groupScale = step(scales[i / 16], 0, scale, 0, 127);
            putByte(target, 192 + i / 16, groupScale);
            int quant = step(numbers[start + i], 0, scale * groupScale, -32, 31) + 32;
            int within = i % 128;
            orByte(target, 64 * (i / 128) + within % 64, (quant & 0xF) << (4 * (within / 64)));
            orByte(target, 128 + 32 * (i / 128) + within % 32, (quant >> 4) << (2 * (within / 32)));
        }
    }

    /** Stores a 16-bit float and returns what was stored. */
    private static float half(MemorySegment target, long offset, float number) {
        short bits = Float.floatToFloat16(number);
        target.set(SHORT, offset, bits);
        return Float.float16ToFloat(bits);
    }

    private static int step(float number, float zero, float scale, int least, int greatest) {
        return scale == 0 ? 0 : Math.clamp(Math.round((number - zero) / scale), least, greatest);
    }

    private static void putByte(MemorySegment target, long offset, int value) {
        target.set(ValueLayout.JAVA_BYTE, offset, (byte) value);
    }

    private static void orByte(MemorySegment target, long offset, int bits) {
        putByte(target, offset, target.get(ValueLayout.JAVA_BYTE, offset) | bits);
    }

    private static float least(float[] numbers, int start, int count) {
        float least = numbers[start];
        for (int i = 1; i < count; i++) {
            least = Math.min(least, numbers[start + i]);
        }
        return least;
    }

    private static float greatest(float[] numbers, int start, int count) {
        float greatest = numbers[start];
        for (int i = 1; i < count; i++) {
            greatest = Math.max(greatest, numbers[start + i]);
        }
        return greatest;
    }

    private static float largestMagnitude(float[] numbers, int start, int count) {
        return Math.max(-least(numbers, start, count), greatest(numbers, start, count));
    }

    /** The number of 32 that is farthest from zero, with its sign. */
    private static float signedExtreme(float[] numbers, int start) {
        float least = least(numbers, start, 32);
        float greatest = greatest(numbers, start, 32);
        return -least > greatest ? least : greatest;
    }
}
