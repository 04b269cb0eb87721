package roselle.server.grpc;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** Writes the fields of a message in the wire format of Protocol Buffers; what has its type's default is left out, as there. */
public final class ProtoWriter {
    private static final int VARINT = 0;
    private static final int BYTES = 2;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    public ProtoWriter bool(int field, boolean value) {
        if (value) {
            tag(field, VARINT);
            varint(1);
        }
        return this;
    }

    /** A member of a choice, which is there though it has its default. */
    public ProtoWriter chosenBool(int field, boolean value) {
        tag(field, VARINT);
        varint(value ? 1 : 0);
        return this;
    }

    public ProtoWriter text(int field, String value) {
        return value.isEmpty() ? this : element(field, value);
    }

    public ProtoWriter number(int field, long value) {
        if (value != 0) {
            tag(field, VARINT);
            varint(value);
        }
        return this;
    }

    /** An element of a repeated field, which is there though it is empty. */
    public ProtoWriter element(int field, String value) {
        return element(field, value.getBytes(StandardCharsets.UTF_8));
    }

    public ProtoWriter element(int field, byte[] value) {
        tag(field, BYTES);
        varint(value.length);
        out.writeBytes(value);
        return this;
    }

    public ProtoWriter message(int field, ProtoWriter value) {
        return element(field, value.toBytes());
    }

    /** A repeated field of one whole number, packed. */
    public ProtoWriter packed(int field, long value) {
        var only = new ProtoWriter();
        only.varint(value);
        return message(field, only);
    }

    private void tag(int field, int type) {
        varint(((long) field << 3) | type);
    }

    private void varint(long value) {
        long rest = value;
        while ((rest & ~0x7fL) != 0) {
            out.write((int) ((rest & 0x7f) | 0x80));
            rest >>>= 7;
        }
        out.write((int) rest);
    }

    public byte[] toBytes() {
        return out.toByteArray();
    }
}
