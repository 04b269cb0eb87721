package roselle.grammar.automaton;

/**
 * Classes of code points that expressions mostly treat alike: each sign of ASCII by itself, digits, four pieces of the letters, some
 * controls, and what lies beyond ASCII: blanks, separators of lines, and all others. Sets of classes are bits of a long.
 */
public final class SymbolClasses {
    /** How many there are. */
    public static final int COUNT = 45;

    private static final int SIGNS = 0; // 33 from the blank on, in their order
    private static final int DIGITS = 33;
    private static final int LETTERS = 34; // A to F, G to Z, a to f, g to z
    private static final int TAB = 38;
    private static final int LINE_FEED = 39;
    private static final int RETURN = 40;
    private static final int CONTROLS = 41;
    private static final int SEPARATORS = 42; // which end lines as line feeds do
    private static final int BEYOND = 43;
    private static final int BLANKS = 44; // beyond ASCII

    /** Pieces of letters, and what lies beyond ASCII: only sets with one of these hold many tokens. */
    public static final long WIDE = 15L << LETTERS | 1L << BEYOND;

    /** All that lies beyond ASCII. */
    public static final long ALL_BEYOND = 1L << BEYOND | 1L << BLANKS | 1L << SEPARATORS;

    /** How many {@link #group groups} there are. */
    public static final int GROUPS = 6;

    private static final long[] CLASSES_OF_GROUPS = {
        3L << (LETTERS + 2), 3L << LETTERS, 1L << DIGITS, 1L << BEYOND, 1L << BLANKS, 1L << SEPARATORS
    };

    private static final byte[] OF_ASCII = ofAscii();

    /** First, last, class of those beyond ASCII that are in classes of few: what expressions call blanks. */
    private static final int[] FEW = {
        0xA0,
        0xA0,
        BLANKS,
        0x1680,
        0x1680,
        BLANKS,
        0x2000,
        0x200A,
        BLANKS,
        0x2028,
        0x2029,
        SEPARATORS,
        0x202F,
        0x202F,
        BLANKS,
        0x205F,
        0x205F,
        BLANKS,
        0x3000,
        0x3000,
        BLANKS,
        0xFEFF,
        0xFEFF,
        BLANKS
    };

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

    /**
     * The classes of a group that most expressions treat alike: small letters, capitals, digits, and what lies beyond ASCII without
     * blanks and separators, those blanks, those separators.
     */
    public static long group(int which) {
        return CLASSES_OF_GROUPS[which];
    }

    /** The class of a code point. */
    public static int of(int codePoint) {
        if (codePoint < 128) {
            return OF_ASCII[codePoint];
        }
        for (int i = 0; i < FEW.length && FEW[i] <= codePoint; i += 3) {
            if (codePoint <= FEW[i + 1]) {
                return FEW[i + 2];
            }
        }
        return BEYOND;
    }

    /** The classes of the code points between two, as bits. */
    public static long between(int first, int last) {
        long classes = 0;
        for (int at = first; at <= last; at = lastAlike(at) + 1) {
            classes |= 1L << of(at);
        }
        return classes;
    }

    /** The last code point that is in the class of one with all between them. */
    public static int lastAlike(int codePoint) {
        if (codePoint >= 128) {
            for (int i = 0; i < FEW.length; i += 3) {
                if (codePoint <= FEW[i + 1]) {
                    return codePoint < FEW[i] ? FEW[i] - 1 : FEW[i + 1];
                }
            }
            return Character.MAX_CODE_POINT;
        }
        int last = codePoint;
        while (last + 1 < 128 && OF_ASCII[last + 1] == OF_ASCII[codePoint]) {
            last++;
        }
        return last;
    }
}
