package roselle.server.grpc;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;
import roselle.server.http.ApiException;

/**
 * Reads the fields of a message in the wire format of Protocol Buffers, one after the other: {@link #next} goes to a field, and its
 * value is read by one of the other methods. Groups, which no present syntax has, are refused.
 */
public final class ProtoReader {
    private static final int VARINT = 0;
    private static final int FIXED_64 = 1;
    private static final int BYTES = 2;
    private static final int MOST_VARINT_BITS = 63;

    private final String message;
    private final ByteBuffer in;
    private int field;
    private int type;

    /** The fields of a message of a type, which refusals name. */
    public ProtoReader(String message, byte[] bytes) {
        this(message, ByteBuffer.wrap(bytes));
    }

    private ProtoReader(String message, ByteBuffer in) {
        this.message = message;
        this.in = in.order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Goes to the next field; false where there is none. */
    public boolean next() {
        if (!in.hasRemaining()) {
            return false;
        }
        long tag = rawVarint();
        require(tag >> 3 > 0 && tag >> 3 < 1 << 29, "a field has no number");
        field = (int) (tag >> 3);
        type = (int) tag & 7;
        return true;
    }

    /** The number of the field. */
    public int field() {
        return field;
    }

    public long varint() {
        require(type == VARINT, "field " + field + " is no whole number");
        return rawVarint();
    }

    public boolean bool() {
        return varint() != 0;
    }

    public double float64() {
        require(type == FIXED_64 && in.remaining() >= Double.BYTES, "field " + field + " is no double");
        return in.getDouble();
    }

    public byte[] bytes() {
        ByteBuffer slice = slice();
        byte[] bytes = new byte[slice.remaining()];
        slice.get(bytes);
        return bytes;
    }

    public String text() {
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(slice()).toString();
        } catch (CharacterCodingException _) {
            throw refusal("field " + field + " is no text in UTF-8");
        }
    }

    /** A message within this one. */
    public ProtoReader message(String name) {
        return new ProtoReader(name, slice());
    }

    /** The elements of a repeated field of whole numbers: this one, or all, where they are packed. */
    public void varints(Consumer<Long> action) {
        if (type == VARINT) {
            action.accept(rawVarint());
            return;
        }
        var packed = new ProtoReader(message, slice());
        while (packed.in.hasRemaining()) {
            action.accept(packed.rawVarint());
        }
    }

    /** A refusal of the field, which means nothing here. */
    public ApiException unknown() {
        return refusal("it has a field " + field + ", which is not supported");
    }

    private ByteBuffer slice() {
        require(type == BYTES, "field " + field + " is no text, bytes or message");
        long length = rawVarint();
        require(length >= 0 && length <= in.remaining(), "field " + field + " ends behind it");
        ByteBuffer slice = in.slice(in.position(), (int) length);
        in.position(in.position() + (int) length);
        return slice;
    }

    private long rawVarint() {
        long value = 0;
        for (int shift = 0; shift <= MOST_VARINT_BITS; shift += 7) {
            require(in.hasRemaining(), "it ends within a number");
            byte next = in.get();
            value |= (next & 0x7fL) << shift;
            if (next >= 0) {
                return value;
            }
        }
        throw refusal("a number has more than ten bytes");
    }

    private void require(boolean holds, String fault) {
        if (!holds) {
            throw refusal(fault);
        }
    }

    private ApiException refusal(String fault) {
        return ApiException.invalid("", "the message is no " + message + " as it may be: " + fault);
    }
}
