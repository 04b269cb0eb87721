package roselle.tokenizer.unicode;

import java.util.function.IntPredicate;

/**
 * A set of code points, answered from bits: ASCII at once, the rest in pages of 256 that are filled on first use.
 *
 * <p>Thread-safe: a page is an array that is filled before it is published, and two threads that fill one page write
 * the same bits.
 */
public final class CharacterSet {
    /** Every code point. */
    public static final CharacterSet ALL = new CharacterSet(codePoint -> true);

    private final IntPredicate members;
    private final long low;
    private final long high;
    private final Page[] pages = new Page[(Character.MAX_CODE_POINT + 1) >> 8];

    /** The bits of 256 code points; final fields make the racy publication safe. */
    private static final class Page {
        final long first;
        final long second;
        final long third;
        final long fourth;

        Page(IntPredicate members, int from) {
            first = bits(members, from);
            second = bits(members, from + 64);
            third = bits(members, from + 128);
            fourth = bits(members, from + 192);
        }

        boolean contains(int codePoint) {
            long word = switch ((codePoint >> 6) & 3) {
                case 0 -> first;
                case 1 -> second;
                case 2 -> third;
                default -> fourth;
            };
            return (word >>> codePoint & 1) != 0;
        }
    }

    public CharacterSet(IntPredicate members) {
        this.members = members;
        low = bits(members, 0);
        high = bits(members, 64);
    }

    private static long bits(IntPredicate members, int from) {
        long bits = 0;
        for (int i = 0; i < 64; i++) {
            bits |= members.test(from + i) ? 1L << i : 0;
        }
        return bits;
    }

    public static CharacterSet of(int codePoint) {
        return new CharacterSet(other -> other == codePoint);
    }

    /** The characters that differ from this one in case only, and itself. */
    public static CharacterSet ignoringCase(int codePoint) {
        int folded = fold(codePoint);
        return new CharacterSet(other -> fold(other) == folded);
    }

    public boolean contains(int codePoint) {
        if (codePoint < 128) {
            return ((codePoint < 64 ? low : high) >>> codePoint & 1) != 0;
        }
        Page page = pages[codePoint >> 8];
        if (page == null) {
            page = new Page(members, codePoint & ~0xFF);
            pages[codePoint >> 8] = page;
        }
        return page.contains(codePoint);
    }

    public CharacterSet union(CharacterSet other) {
        return new CharacterSet(codePoint -> members.test(codePoint) || other.members.test(codePoint));
    }

    public CharacterSet intersection(CharacterSet other) {
        return new CharacterSet(codePoint -> members.test(codePoint) && other.members.test(codePoint));
    }

    public CharacterSet complement() {
        return new CharacterSet(codePoint -> !members.test(codePoint));
    }

    /** With every character whose other case is a member. */
    public CharacterSet closedUnderCase() {
        return new CharacterSet(codePoint -> {
            int upper = Character.toUpperCase(codePoint);
            int lower = Character.toLowerCase(codePoint);
            return members.test(codePoint)
                    || members.test(upper)
                    || members.test(lower)
                    || members.test(Character.toLowerCase(upper))
                    || members.test(Character.toUpperCase(lower))
                    || members.test(Character.toTitleCase(codePoint));
        });
    }

    private static int fold(int codePoint) {
        return Character.toLowerCase(Character.toUpperCase(codePoint));
    }
}
