package roselle.checkpoint.gguf;

import java.util.Optional;

/** The type of a GGUF metadata value. */
enum GgufType {
    UINT8(0, 1),
    INT8(1, 1),
    UINT16(2, 2),
    INT16(3, 2),
    UINT32(4, 4),
    INT32(5, 4),
    FLOAT32(6, 4),
    BOOL(7, 1),
    STRING(8, 0),
    ARRAY(9, 0),
    UINT64(10, 8),
    INT64(11, 8),
    FLOAT64(12, 8);

    private static final GgufType[] VALUES = values(); // in the order of their numbers

    private final int number;
    private final int bytes;

    GgufType(int number, int bytes) {
        this.number = number;
        this.bytes = bytes;
    }

    /** The number in the file. */
    int number() {
        return number;
    }

    /** Bytes of one value; 0 where they vary. */
    int bytes() {
        return bytes;
    }

    /** The fewest bytes that one value takes. */
    int fewestBytes() {
        return switch (this) {
            case STRING -> Long.BYTES;
            case ARRAY -> Integer.BYTES + Long.BYTES;
            case UINT8, INT8, UINT16, INT16, UINT32, INT32, FLOAT32, BOOL, UINT64, INT64, FLOAT64 -> bytes;
        };
    }

    boolean isInteger() {
        return switch (this) {
            case UINT8, INT8, UINT16, INT16, UINT32, INT32, UINT64, INT64 -> true;
            case FLOAT32, FLOAT64, BOOL, STRING, ARRAY -> false;
        };
    }

    boolean isNumber() {
        return isInteger() || this == FLOAT32 || this == FLOAT64;
    }

    static Optional<GgufType> of(int number) {
        return number < 0 || number >= VALUES.length ? Optional.empty() : Optional.of(VALUES[number]);
    }
}
