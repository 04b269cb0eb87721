package roselle.grammar.automaton;

/**
 * Classes of code points that expressions mostly treat alike: each sign of ASCII by itself, digits, four pieces of the letters, some
 * controls, and what lies beyond ASCII. Sets of classes are bits of a long.
 */
public final class SymbolClasses {
    /** How many there are. */
    public static final int COUNT = 44;

    private static final int SIGNS = 0; // 33 from the blank on, in their order
    private static final int DIGITS = 33;
    private static final int LETTERS = 34; // A to F, G to Z, a to f, g to z
    private static final int TAB = 38;
    private static final int LINE_FEED = 39;
    private static final int RETURN = 40;
    private static final int CONTROLS = 41;
    private static final int SEPARATORS = 42; // which end lines as line feeds do
    private static final int BEYOND = 43;

    /** Pieces of letters, and what lies beyond ASCII: only sets with one of these hold many tokens. */
    public static final long WIDE = 15L << LETTERS | 1L << BEYOND;

    private static final byte[] OF_ASCII = ofAscii();

    private SymbolClasses() {}

    private static byte[] ofAscii() {
        byte[] of = new byte[128];
        int sign = SIGNS;
        for (int symbol = 0; symbol < 128; symbol++) {
            boolean isLetter = (symbol | 0x20) >= 'a' && (symbol | 0x20) <= 'z';
            if (symbol < 0x20 || symbol == 0x7F) {
                of[symbol] = CONTROLS;
            } else if (symbol >= '0' && symbol <= '9') {
                of[symbol] = DIGITS;
            } else if (isLetter) {
                of[symbol] = (byte) (LETTERS + (symbol >= 'a' ? 2 : 0) + ((symbol | 0x20) > 'f' ? 1 : 0));
            } else {
                of[symbol] = (byte) sign++;
            }
        }
        of['\t'] = TAB;
        of['\n'] = LINE_FEED;
        of['\r'] = RETURN;
        return of;
    }

    /** The class of a code point. */
    public static int of(int codePoint) {
        if (codePoint < 128) {
            return OF_ASCII[codePoint];
        }
        return codePoint == 0x2028 || codePoint == 0x2029 ? SEPARATORS : BEYOND;
    }

    /** The last code point that is in the class of one with all between them. */
    public static int lastAlike(int codePoint) {
        if (codePoint >= 128) {
            return codePoint < 0x2028 ? 0x2027 : codePoint <= 0x2029 ? 0x2029 : Character.MAX_CODE_POINT;
        }
        int last = codePoint;
        while (last + 1 < 128 && OF_ASCII[last + 1] == OF_ASCII[codePoint]) {
            last++;
        }
        return last;
    }
}
