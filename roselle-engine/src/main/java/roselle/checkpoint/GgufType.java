package roselle.checkpoint;

import java.util.Optional;

/** The type of a GGUF metadata value; the ordinal is the number in the file. */
enum GgufType {
    UINT8(1),
    INT8(1),
    UINT16(2),
    INT16(2),
    UINT32(4),
    INT32(4),
    FLOAT32(4),
    BOOL(1),
    STRING(0),
    ARRAY(0),
    UINT64(8),
    INT64(8),
    FLOAT64(8);

    private static final GgufType[] VALUES = values();

    private final int bytes;

    GgufType(int bytes) {
        this.bytes = bytes;
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
