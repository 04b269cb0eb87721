package roselle.tokenizer.format;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import roselle.api.CheckpointException;

/**
 * Reads the fields of one Protocol Buffers message in the order in which they lie. Lengths are checked against the bytes
 * that are there before anything is made of them.
 */
final class ProtobufReader {
    private static final int VARINT = 0;
    private static final int FIXED_64 = 1;
    private static final int LENGTH_DELIMITED = 2;
    private static final int FIXED_32 = 5;

    private final byte[] bytes;
    private final int end;
    private final String origin;
    private int at;
    private int wireType;

    /** Reads {@code bytes}; {@code origin} names the file in messages. */
    ProtobufReader(byte[] bytes, String origin) {
        this(bytes, 0, bytes.length, origin);
    }

    private ProtobufReader(byte[] bytes, int start, int end, String origin) {
        this.bytes = bytes;
        this.origin = origin;
        this.end = end;
        at = start;
    }

    /** Moves to the next field and returns its number; 0 at the end. */
    int nextField() {
        if (at == end) {
            return 0;
        }
        long tag = varint();
        wireType = (int) tag & 7;
        long field = tag >>> 3;
        if (field == 0 || field > 536_870_911) {
            throw damaged("field number " + field + " is outside 1 to 536870911");
        }
        return (int) field;
    }

    /** The field as a message of its own. */
    ProtobufReader message() {
        int length = lengthOfBlock();
        var inner = new ProtobufReader(bytes, at, at + length, origin);
        at += length;
        return inner;
    }

    byte[] block() {
        int length = lengthOfBlock();
        byte[] block = Arrays.copyOfRange(bytes, at, at + length);
        at += length;
        return block;
    }

    String string() {
        int start = at;
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(block()))
                    .toString();
        } catch (CharacterCodingException notText) {
            throw new CheckpointException(origin + " is damaged at byte " + start + ": a string is not UTF-8", notText);
        }
    }

    long integer() {
        expect(VARINT);
        return varint();
    }

    boolean flag() {
        return integer() != 0;
    }

    float number() {
        expect(FIXED_32);
        return Float.intBitsToFloat((int) fixed(4));
    }

    void skip() {
        switch (wireType) {
            case VARINT -> varint();
            case FIXED_64 -> fixed(8);
            case LENGTH_DELIMITED -> {
                int length = lengthOfBlock(); // moves on itself
                at += length;
            }
            case FIXED_32 -> fixed(4);
            default -> throw damaged("wire type " + wireType + " is not known");
        }
    }

    private int lengthOfBlock() {
        expect(LENGTH_DELIMITED);
        long length = varint();
        if (length < 0 || length > end - at) {
            throw damaged("a field of " + Long.toUnsignedString(length) + " bytes is longer than the " + (end - at)
                    + " that follow");
        }
        return (int) length;
    }

    private void expect(int needed) {
        if (wireType != needed) {
            throw damaged("a field has wire type " + wireType + " where " + needed + " belongs");
        }
    }

    private long varint() {
        long value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            byte next = (byte) fixed(1);
            value |= (next & 0x7FL) << shift;
            if (next >= 0) {
                return value;
            }
        }
        throw damaged("a number has more than ten bytes");
    }

    private long fixed(int count) {
        if (end - at < count) {
            throw damaged("it ends within a number");
        }
        long value = 0;
        for (int i = 0; i < count; i++) {
            value |= (bytes[at++] & 0xFFL) << (8 * i);
        }
        return value;
    }

    private CheckpointException damaged(String problem) {
        return new CheckpointException(origin + " is damaged at byte " + at + ": " + problem);
    }
}
