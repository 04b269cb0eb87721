package roselle.server.http;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Text being written, in UTF-8. Not thread-safe; may be reused. */
public final class Utf8Buffer {
    private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

    private byte[] bytes = new byte[512];
    private int length;

    /** Adds a text that is all ASCII, as it is. */
    @SuppressWarnings("deprecation") // the only copy of ASCII without an array in between
    public Utf8Buffer ascii(String text) {
        reserve(text.length());
        text.getBytes(0, text.length(), bytes, length);
        length += text.length();
        return this;
    }

    /** Adds text that is in UTF-8 already. */
    public Utf8Buffer utf8(byte[] text) {
        reserve(text.length);
        System.arraycopy(text, 0, bytes, length, text.length);
        length += text.length;
        return this;
    }

    /** Adds a character of ASCII. */
    Utf8Buffer ascii(char unit) {
        reserve(1);
        put(unit);
        return this;
    }

    /** Adds a text as JSON has it between quotes; a lone surrogate becomes U+FFFD. */
    Utf8Buffer escaped(String text) {
        reserve(6 * text.length());
        for (int index = 0; index < text.length(); index++) {
            char unit = text.charAt(index);
            if (unit < 0x80) {
                escaped(unit);
            } else if (unit < 0x800) {
                put(0xC0 | (unit >> 6));
                put(0x80 | (unit & 0x3F));
            } else if (isPair(text, index)) {
                four(Character.toCodePoint(unit, text.charAt(++index)));
            } else {
                three(Character.isSurrogate(unit) ? 0xFFFD : unit);
            }
        }
        return this;
    }

    private static boolean isPair(String text, int index) {
        return Character.isHighSurrogate(text.charAt(index))
                && index + 1 < text.length()
                && Character.isLowSurrogate(text.charAt(index + 1));
    }

    private void escaped(char unit) {
        switch (unit) {
            case '"', '\\' -> escape(unit);
            case '\n' -> escape('n');
            case '\r' -> escape('r');
            case '\t' -> escape('t');
            case '\b' -> escape('b');
            case '\f' -> escape('f');
            default -> {
                if (unit < 0x20 || unit == 0x7F) {
                    control(unit);
                } else {
                    put(unit);
                }
            }
        }
    }

    private void escape(char letter) {
        put('\\');
        put(letter);
    }

    private void control(char unit) {
        escape('u');
        put('0');
        put('0');
        put(HEX[unit >> 4]);
        put(HEX[unit & 0xF]);
    }

    private void three(int unit) {
        put(0xE0 | (unit >> 12));
        put(0x80 | (unit >> 6 & 0x3F));
        put(0x80 | (unit & 0x3F));
    }

    private void four(int codePoint) {
        put(0xF0 | (codePoint >> 18));
        put(0x80 | (codePoint >> 12 & 0x3F));
        put(0x80 | (codePoint >> 6 & 0x3F));
        put(0x80 | (codePoint & 0x3F));
    }

    private void put(int unit) {
        bytes[length++] = (byte) unit;
    }

    private void reserve(int more) {
        if (bytes.length - length < more) {
            bytes = Arrays.copyOf(bytes, Math.max(Math.addExact(length, more), 2 * bytes.length));
        }
    }

    /** Forgets everything written. */
    void clear() {
        length = 0;
    }

    int length() {
        return length;
    }

    /** The bytes written so far, at the beginning of an array that is reused by later writes. */
    byte[] array() {
        return bytes;
    }

    byte[] toBytes() {
        return Arrays.copyOf(bytes, length);
    }

    @Override
    public String toString() {
        return new String(bytes, 0, length, StandardCharsets.UTF_8);
    }
}
