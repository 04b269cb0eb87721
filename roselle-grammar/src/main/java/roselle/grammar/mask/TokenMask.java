package roselle.grammar.mask;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The tokens that may come next; equal masks of a {@link Vocabulary} are the same object, with a small number for a device that keeps
 * them.
 */
public final class TokenMask {
    /** Masks with at most so many tokens are kept as a list. */
    public static final int MAX_LISTED = 64;

    private final int id;
    private final int words;
    private final int count;
    private final int[] list;
    private volatile long @Nullable [] bits;

    TokenMask(int id, TokenSet set, int words) {
        Dense base = set.base();
        this.id = id;
        this.words = words;
        this.count = set.added().length + (base == null ? 0 : base.count - set.removed().length);
        if (count > MAX_LISTED) {
            this.list = new int[0];
            this.bits = set.bits(words);
        } else {
            this.list = base == null ? set.added().clone() : listed(set.bits(words), count);
            Arrays.sort(list);
        }
    }

    private static int[] listed(long[] bits, int count) {
        int[] list = new int[count];
        int at = 0;
        for (int word = 0; word < bits.length; word++) {
            for (long rest = bits[word]; rest != 0; rest &= rest - 1) {
                list[at++] = (word << 6) + Long.numberOfTrailingZeros(rest);
            }
        }
        return list;
    }

    /** A number, counted from 0, by which this mask is known. */
    public int id() {
        return id;
    }

    /** How many tokens are allowed. */
    public int count() {
        return count;
    }

    public boolean allows(int token) {
        if (count <= MAX_LISTED) {
            return Arrays.binarySearch(list, token) >= 0;
        }
        return (bits()[token >>> 6] & 1L << token) != 0;
    }

    /** The allowed tokens in ascending order where there are at most {@link #MAX_LISTED}; else empty. Read only. */
    public int[] list() {
        return list;
    }

    /** One bit for each token, the least significant of a word first. Read only. */
    public long[] bits() {
        long[] known = bits;
        if (known == null) {
            known = new long[words];
            for (int token : list) {
                known[token >>> 6] |= 1L << token;
            }
            bits = known;
        }
        return known;
    }

    /** Bytes that it takes. */
    int size() {
        return 64 + (count > MAX_LISTED ? 8 * words : 4 * count);
    }
}
