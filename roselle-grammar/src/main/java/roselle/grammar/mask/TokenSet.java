package roselle.grammar.mask;

import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A set of tokens as few differences from a base: what joins, removes and interns sets then takes time by the differences.
 *
 * @param added none of the base
 * @param removed sorted; all of the base
 */
@SuppressWarnings("ArrayRecordComponent") // built once and never changed; never compared
record TokenSet(@Nullable Dense base, int[] added, int[] removed) {
    static final TokenSet NONE = new TokenSet(null, new int[0], new int[0]);

    /** How many tokens it has. */
    int count() {
        return added.length + (base == null ? 0 : base.count - removed.length);
    }

    /** Tells each of its tokens. */
    void forEach(IntConsumer consumer) {
        for (int token : added) {
            consumer.accept(token);
        }
        int gone = 0; // of those that are removed, so many have been passed
        for (int word = 0; base != null && word < base.bits.length; word++) {
            for (long rest = base.bits[word]; rest != 0; rest &= rest - 1) {
                int token = (word << 6) + Long.numberOfTrailingZeros(rest);
                if (gone < removed.length && removed[gone] == token) {
                    gone++;
                } else {
                    consumer.accept(token);
                }
            }
        }
    }

    /** One bit for each token, in a new array. */
    long[] bits(int words) {
        long[] bits = base == null ? new long[words] : base.bits.clone();
        for (int token : added) {
            bits[token >>> 6] |= 1L << token;
        }
        for (int token : removed) {
            bits[token >>> 6] &= ~(1L << token);
        }
        return bits;
    }

    static TokenSet of(Dense base) {
        return new TokenSet(base, NONE.added, NONE.removed);
    }
}
