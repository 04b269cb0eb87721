package roselle.server.http;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** JSON being written, in UTF-8: constant parts as they are, texts quoted and escaped. Not thread-safe; may be reused. */
public final class JsonText {
    private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

    private byte[] bytes = new byte[512];
    private int length;

    /** Adds a part that is JSON already, all of it ASCII. */
    @SuppressWarnings("deprecation") // the only copy of ASCII without an array in between
    public JsonText raw(String ascii) {
        reserve(ascii.length());
        ascii.getBytes(0, ascii.length(), bytes, length);
        length += ascii.length();
        return this;
    }

    /** Adds a part that is JSON already, in UTF-8. */
    public JsonText raw(byte[] json) {
        reserve(json.length);
        System.arraycopy(json, 0, bytes, length, json.length);
        length += json.length;
        return this;
    }

    public JsonText number(long value) {
        return raw(Long.toString(value));
    }

    /** Adds a number; JSON has no infinities, so they become the bounds that OpenAI's API uses for log-probabilities. */
    public JsonText number(float value) {
        return raw(Float.toString(Float.isNaN(value) ? -9999f : Math.clamp(value, -9999f, 9999f)));
    }

    /** Adds a text in quotes; a lone surrogate becomes U+FFFD. */
    public JsonText string(String text) {
        raw("\"");
        content(text);
        return raw("\"");
    }

    /** Adds a text in quotes, or {@code null} for an empty one. */
    public JsonText stringOrNull(String text) {
        return text.isEmpty() ? raw("null") : string(text);
    }

    /** Adds what stands between the quotes. */
    public JsonText content(String text) {
        reserve(6 * text.length());
        for (int index = 0; index < text.length(); index++) {
            char unit = text.charAt(index);
            if (unit < 0x80) {
                ascii(unit);
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

    private void ascii(char unit) {
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
    public JsonText clear() {
        length = 0;
        return this;
    }

    public int length() {
        return length;
    }

    /** The bytes written so far, at the beginning of an array that is reused by later writes. */
    byte[] array() {
        return bytes;
    }

    public byte[] toBytes() {
        return Arrays.copyOf(bytes, length);
    }

    @Override
    public String toString() {
        return new String(bytes, 0, length, StandardCharsets.UTF_8);
    }
}
