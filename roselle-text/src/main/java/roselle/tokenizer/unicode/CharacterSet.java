package roselle.tokenizer.unicode;

import java.util.List;
import java.util.function.IntPredicate;
import java.util.function.IntToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * A set of code points, answered from bits: ASCII at once, the rest in pages of 256 that are filled on first use. What is made of
 * other sets is made of their bits, so that it costs no more to ask than they do.
 *
 * <p>Thread-safe: a page is an array that is filled before it is published, and two threads that fill one page write
 * the same bits.
 */
public final class CharacterSet {
    /** Every code point. */
    public static final CharacterSet ALL = new CharacterSet(codePoint -> true);

    private final IntToLongFunction bits; // of the 64 code points from a multiple of 64
    private final long low;
    private final long high;
    private Page @Nullable [] pages; // none before the first code point beyond ASCII

    /** The bits of 256 code points; final fields make the racy publication safe. */
    private static final class Page {
        final long first;
        final long second;
        final long third;
        final long fourth;

        Page(IntToLongFunction bits, int from) {
            first = bits.applyAsLong(from);
            second = bits.applyAsLong(from + 64);
            third = bits.applyAsLong(from + 128);
            fourth = bits.applyAsLong(from + 192);
        }

        long bitsAround(int codePoint) {
            return switch ((codePoint >> 6) & 3) {
                case 0 -> first;
                case 1 -> second;
                case 2 -> third;
                default -> fourth;
            };
        }
    }

    public CharacterSet(IntPredicate members) {
        this(from -> bits(members, from), bits(members, 0), bits(members, 64));
    }

    private CharacterSet(IntToLongFunction bits, long low, long high) {
        this.bits = bits;
        this.low = low;
        this.high = high;
    }

    private static CharacterSet ofBits(IntToLongFunction bits) {
        return new CharacterSet(bits, bits.applyAsLong(0), bits.applyAsLong(64));
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
        return (bitsAround(codePoint) >>> codePoint & 1) != 0;
    }

    private long bitsAround(int codePoint) {
        if (codePoint < 128) {
            return codePoint < 64 ? low : high;
        }
        Page[] known = pages;
        if (known == null) {
            known = new Page[(Character.MAX_CODE_POINT + 1) >> 8];
            pages = known;
        }
        Page page = known[codePoint >> 8];
        if (page == null) {
            page = new Page(bits, codePoint & ~0xFF);
            known[codePoint >> 8] = page;
        }
        return page.bitsAround(codePoint);
    }

    public CharacterSet union(CharacterSet other) {
        return anyOf(List.of(this, other));
    }

    /** What is in at least one of some sets. */
    public static CharacterSet anyOf(List<CharacterSet> sets) {
        return ofBits(from -> {
            long any = 0;
            for (CharacterSet set : sets) {
                any |= set.bitsAround(from);
            }
            return any;
        });
    }

    /** What is in each of some sets. */
    public static CharacterSet allOf(List<CharacterSet> sets) {
        return ofBits(from -> {
            long all = -1;
            for (CharacterSet set : sets) {
                all &= set.bitsAround(from);
            }
            return all;
        });
    }

    public CharacterSet complement() {
        return ofBits(from -> ~bitsAround(from));
    }

    /** With every character whose other case is a member. */
    public CharacterSet closedUnderCase() {
        return new CharacterSet(codePoint -> {
            int upper = Character.toUpperCase(codePoint);
            int lower = Character.toLowerCase(codePoint);
            return contains(codePoint)
                    || contains(upper)
                    || contains(lower)
                    || contains(Character.toLowerCase(upper))
                    || contains(Character.toUpperCase(lower))
                    || contains(Character.toTitleCase(codePoint));
        });
    }

    private static int fold(int codePoint) {
        return Character.toLowerCase(Character.toUpperCase(codePoint));
    }
}
