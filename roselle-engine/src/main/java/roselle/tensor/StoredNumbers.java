package roselle.tensor;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Reads single little-endian numbers at any byte. */
final class StoredNumbers {
    private static final ValueLayout.OfShort SHORT =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private StoredNumbers() {}

    static int int8(MemorySegment source, long offset) {
        return source.get(ValueLayout.JAVA_BYTE, offset);
    }

    static int uint8(MemorySegment source, long offset) {
        return source.get(ValueLayout.JAVA_BYTE, offset) & 0xFF;
    }

    static short int16(MemorySegment source, long offset) {
        return source.get(SHORT, offset);
    }

    static int int32(MemorySegment source, long offset) {
        return source.get(INT, offset);
    }

    static long int64(MemorySegment source, long offset) {
        return source.get(LONG, offset);
    }

    static float float16(MemorySegment source, long offset) {
        return Float.float16ToFloat(source.get(SHORT, offset));
    }
}
