package roselle.tensor;

import java.lang.foreign.MemorySegment;

/** Conversion of the types that have no blocks; what a float cannot hold is rounded to the nearest, ties to even. */
final class PlainNumbers {
    private PlainNumbers() {}

    static void float32(MemorySegment source, long offset, float[] target, int start, int elements) {
        for (int i = 0; i < elements; i++) {
            target[start + i] = Float.intBitsToFloat(StoredNumbers.int32(source, offset + 4L * i));
        }
    }

    static void float16(MemorySegment source, long offset, float[] target, int start, int elements) {
        for (int i = 0; i < elements; i++) {
            target[start + i] = StoredNumbers.float16(source, offset + 2L * i);
        }
    }

    static void bfloat16(MemorySegment source, long offset, float[] target, int start, int elements) {
        for (int i = 0; i < elements; i++) {
            target[start + i] = Float.intBitsToFloat(StoredNumbers.int16(source, offset + 2L * i) << 16);
        }
    }

    static void float64(MemorySegment source, long offset, float[] target, int start, int elements) {
        for (int i = 0; i < elements; i++) {
            target[start + i] = (float) Double.longBitsToDouble(StoredNumbers.int64(source, offset + 8L * i));
        }
    }

    static void int8(MemorySegment source, long offset, float[] target, int start, int elements) {
        for (int i = 0; i < elements; i++) {
            target[start + i] = StoredNumbers.int8(source, offset + i);
        }
    }

    static void int16(MemorySegment source, long offset, float[] target, int start, int elements) {
        for (int i = 0; i < elements; i++) {
            target[start + i] = StoredNumbers.int16(source, offset + 2L * i);
        }
    }

    static void int32(MemorySegment source, long offset, float[] target, int start, int elements) {
        for (int i = 0; i < elements; i++) {
            target[start + i] = (float) StoredNumbers.int32(source, offset + 4L * i);
        }
    }

    static void int64(MemorySegment source, long offset, float[] target, int start, int elements) {
        for (int i = 0; i < elements; i++) {
            target[start + i] = (float) StoredNumbers.int64(source, offset + 8L * i);
        }
    }

    static void uint8(MemorySegment source, long offset, float[] target, int start, int elements) {
        for (int i = 0; i < elements; i++) {
            target[start + i] = StoredNumbers.uint8(source, offset + i);
        }
    }

    static void uint16(MemorySegment source, long offset, float[] target, int start, int elements) {
        for (int i = 0; i < elements; i++) {
            target[start + i] = Short.toUnsignedInt(StoredNumbers.int16(source, offset + 2L * i));
        }
    }

    static void uint32(MemorySegment source, long offset, float[] target, int start, int elements) {
        for (int i = 0; i < elements; i++) {
            target[start + i] = (float) Integer.toUnsignedLong(StoredNumbers.int32(source, offset + 4L * i));
        }
    }

    static void uint64(MemorySegment source, long offset, float[] target, int start, int elements) {
        for (int i = 0; i < elements; i++) {
            target[start + i] = unsigned(StoredNumbers.int64(source, offset + 8L * i));
        }
    }

    static void bool(MemorySegment source, long offset, float[] target, int start, int elements) {
        for (int i = 0; i < elements; i++) {
            target[start + i] = StoredNumbers.int8(source, offset + i) == 0 ? 0f : 1f;
        }
    }

    /** Halved with the lost bit kept sticky, an unsigned number rounds as a signed one does. */
    private static float unsigned(long bits) {
        return bits >= 0 ? (float) bits : (float) ((bits >>> 1) | (bits & 1)) * 2f;
    }
}
