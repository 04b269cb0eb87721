package roselle.tokenizer.model;

import java.util.Arrays;

/**
 * GPT-2's spelling of bytes as visible characters: printable Latin-1 stands for itself, the other 68 bytes take the
 * characters from U+0100 on, in order. A space is spelled U+0120.
 */
public final class ByteAlphabet {
    private static final char[] CHARACTERS = new char[256]; // by byte
    private static final short[] BYTES = new short[0x144]; // by character, -1 where it spells none

    static {
        Arrays.fill(BYTES, (short) -1);
        char next = 0x100;
        for (int value = 0; value < 256; value++) {
            boolean printable = (value >= '!' && value <= '~')
                    || (value >= 0xA1 && value <= 0xAC)
                    || (value >= 0xAE && value <= 0xFF);
            CHARACTERS[value] = printable ? (char) value : next++;
            BYTES[CHARACTERS[value]] = (short) value;
        }
    }

    private ByteAlphabet() {}

    /** The character that spells a byte. */
    static char character(int value) {
        return CHARACTERS[value];
    }

    /** The byte that {@code character} spells, or -1. */
    public static int byteOf(char character) {
        return character < BYTES.length ? BYTES[character] : -1;
    }

    /** Writes the spelling of {@code text[start, end)} as UTF-8, at most three characters for each of the text's. */
    public static int spell(String text, int start, int end, char[] target) {
        int size = 0;
        for (int i = start; i < end; i++) {
            char c = text.charAt(i);
            if (c < 0x80) {
                target[size++] = CHARACTERS[c];
            } else if (c < 0x800) {
                target[size++] = CHARACTERS[0xC0 | (c >> 6)];
                target[size++] = CHARACTERS[0x80 | (c & 0x3F)];
            } else if (Character.isHighSurrogate(c) && i + 1 < end) {
                size = spellFour(Character.toCodePoint(c, text.charAt(++i)), target, size);
            } else {
                target[size++] = CHARACTERS[0xE0 | (c >> 12)];
                target[size++] = CHARACTERS[0x80 | ((c >> 6) & 0x3F)];
                target[size++] = CHARACTERS[0x80 | (c & 0x3F)];
            }
        }
        return size;
    }

    private static int spellFour(int codePoint, char[] target, int at) {
        target[at] = CHARACTERS[0xF0 | (codePoint >> 18)];
        target[at + 1] = CHARACTERS[0x80 | ((codePoint >> 12) & 0x3F)];
        target[at + 2] = CHARACTERS[0x80 | ((codePoint >> 6) & 0x3F)];
        target[at + 3] = CHARACTERS[0x80 | (codePoint & 0x3F)];
        return at + 4;
    }

    /** The spelling of a text. */
    public static String spell(String text) {
        char[] target = new char[text.length() * 3];
        return new String(target, 0, spell(text, 0, text.length(), target));
    }
}
