package roselle.tokenizer.unicode;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Bytes in, characters out: holds back an incomplete character at the end, and writes U+FFFD for each maximal part of a
 * character that can not be completed, as Unicode recommends and Rust does.
 */
public final class Utf8Stream {
    private byte[] bytes = new byte[32];
    private int size;

    public void append(byte value) {
        if (size == bytes.length) {
            bytes = Arrays.copyOf(bytes, size * 2);
        }
        bytes[size++] = value;
    }

    public void append(byte[] values) {
        for (byte value : values) {
            append(value);
        }
    }

    /** The text that no further byte can change. */
    public String drain() {
        int complete = size - incompleteTail();
        String text = text(complete);
        System.arraycopy(bytes, complete, bytes, 0, size - complete);
        size -= complete;
        return text;
    }

    /** All that is left. */
    public String finish() {
        String text = text(size);
        size = 0;
        return text;
    }

    /** The text of the first bytes; Java takes the three bytes of a surrogate for one mistake, Unicode for three. */
    private String text(int end) {
        StringBuilder pieces = null;
        int done = 0;
        for (int i = 0; i + 1 < end; i++) {
            if (bytes[i] == (byte) 0xED && (bytes[i + 1] & 0xE0) == 0xA0) {
                pieces = pieces == null ? new StringBuilder() : pieces;
                pieces.append(new String(bytes, done, i - done, StandardCharsets.UTF_8))
                        .append('\uFFFD');
                done = i + 1;
            }
        }
        String rest = new String(bytes, done, end - done, StandardCharsets.UTF_8);
        return pieces == null ? rest : pieces.append(rest).toString();
    }

    /** The number of bytes at the end that begin a character but do not finish it. */
    private int incompleteTail() {
        for (int length = 1; length <= Math.min(3, size); length++) {
            int lead = bytes[size - length] & 0xFF;
            if ((lead & 0xC0) != 0x80) {
                return length < needed(lead) && isPrefix(lead, length) ? length : 0;
            }
        }
        return 0;
    }

    private static int needed(int lead) {
        if (lead >= 0xC2 && lead <= 0xDF) {
            return 2;
        }
        return lead >= 0xE0 && lead <= 0xEF ? 3 : lead >= 0xF0 && lead <= 0xF4 ? 4 : 1;
    }

    /** Whether the second byte, if it is there, fits the first (no overlong form, no surrogate, nothing past U+10FFFF). */
    private boolean isPrefix(int lead, int length) {
        if (length == 1) {
            return true;
        }
        int second = bytes[size - length + 1] & 0xFF;
        return switch (lead) {
            case 0xE0 -> second >= 0xA0;
            case 0xED -> second <= 0x9F;
            case 0xF0 -> second >= 0x90;
            case 0xF4 -> second <= 0x8F;
            default -> true;
        };
    }
}
