package roselle.tokenizer.unicode;

/** How the first bytes of UTF-8 make a character. */
public final class Utf8Character {
    private Utf8Character() {}

    /**
     * The number of bytes of the character that begins at {@code bytes[0]}, of which {@code size} are there; 0 where no
     * further byte can make it one.
     */
    public static int length(byte[] bytes, int size) {
        int lead = bytes[0] & 0xFF;
        int needed = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
        for (int i = 1; i < Math.min(needed, size); i++) {
            int next = bytes[i] & 0xFF;
            if ((next & 0xC0) != 0x80 || (i == 1 && !fits(lead, next))) {
                return 0;
            }
        }
        return needed;
    }

    /** Whether the second byte makes no overlong form, no surrogate and nothing past U+10FFFF. */
    private static boolean fits(int lead, int second) {
        return switch (lead) {
            case 0xE0 -> second >= 0xA0;
            case 0xED -> second <= 0x9F;
            case 0xF0 -> second >= 0x90;
            case 0xF4 -> second <= 0x8F;
            default -> true;
        };
    }
}
