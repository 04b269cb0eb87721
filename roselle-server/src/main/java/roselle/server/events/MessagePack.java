package roselle.server.events;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** Writes the few kinds of MessagePack that events have (specification of msgpack.org), integers in their shortest form. */
final class MessagePack {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    MessagePack array(int length) {
        if (length < 16) {
            bytes.write(0x90 | length);
        } else if (length < 1 << 16) {
            tagged(0xDC, length, 2);
        } else {
            tagged(0xDD, length, 4);
        }
        return this;
    }

    MessagePack text(String text) {
        byte[] encoded = text.getBytes(StandardCharsets.UTF_8);
        if (encoded.length < 32) {
            bytes.write(0xA0 | encoded.length);
        } else if (encoded.length < 1 << 8) {
            tagged(0xD9, encoded.length, 1);
        } else if (encoded.length < 1 << 16) {
            tagged(0xDA, encoded.length, 2);
        } else {
            tagged(0xDB, encoded.length, 4);
        }
        bytes.writeBytes(encoded);
        return this;
    }

    /** An integer from 0 to 2⁶⁴ − 1, as the bits of a long. */
    MessagePack unsigned(long value) {
        if (value >>> 7 == 0) {
            bytes.write((int) value);
        } else if (value >>> 8 == 0) {
            tagged(0xCC, value, 1);
        } else if (value >>> 16 == 0) {
            tagged(0xCD, value, 2);
        } else if (value >>> 32 == 0) {
            tagged(0xCE, value, 4);
        } else {
            tagged(0xCF, value, 8);
        }
        return this;
    }

    MessagePack number(double value) {
        tagged(0xCB, Double.doubleToRawLongBits(value), 8);
        return this;
    }

    MessagePack nil() {
        bytes.write(0xC0);
        return this;
    }

    /** Bytes that were written elsewhere, whole values. */
    MessagePack written(byte[] values) {
        bytes.writeBytes(values);
        return this;
    }

    private void tagged(int tag, long value, int width) {
        bytes.write(tag);
        for (int shift = 8 * (width - 1); shift >= 0; shift -= 8) {
            bytes.write((int) (value >>> shift));
        }
    }

    byte[] bytes() {
        return bytes.toByteArray();
    }
}
