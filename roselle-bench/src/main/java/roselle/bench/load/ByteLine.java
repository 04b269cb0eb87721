package roselle.bench.load;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A line of bytes that arrives in pieces, of limited length. */
final class ByteLine {
    private static final int LONGEST = 8 << 20;

    private byte[] bytes = new byte[1024];
    private int length;

    void append(byte[] data, int from, int count) {
        if (length + count > LONGEST) {
            throw new ProtocolException("a line of the answer is longer than " + LONGEST + " bytes");
        }
        if (length + count > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, length + count));
        }
        System.arraycopy(data, from, bytes, length, count);
        length += count;
    }

    /** The bytes; those from {@link #length} on mean nothing. */
    byte[] bytes() {
        return bytes;
    }

    /** Without a carriage return at the end. */
    int length() {
        return length > 0 && bytes[length - 1] == '\r' ? length - 1 : length;
    }

    String text() {
        return new String(bytes, 0, length(), StandardCharsets.UTF_8);
    }

    void clear() {
        length = 0;
    }
}
