package roselle.grammar.mask;

/** Many tokens, one bit each, that sets and masks share as their base; never changed. */
final class Dense {
    final long[] bits;
    final long hash;
    final int count;

    private Dense(long[] bits, long hash, int count) {
        this.bits = bits;
        this.hash = hash;
        this.count = count;
    }

    static Dense of(long[] bits) {
        long hash = 0;
        int count = 0;
        for (int word = 0; word < bits.length; word++) {
            for (long rest = bits[word]; rest != 0; rest &= rest - 1) {
                hash += TokenHash.of((word << 6) + Long.numberOfTrailingZeros(rest));
                count++;
            }
        }
        return new Dense(bits, hash, count);
    }

    /** The same where the sum of the tokens' numbers is known. */
    static Dense of(long[] bits, long hash) {
        int count = 0;
        for (long word : bits) {
            count += Long.bitCount(word);
        }
        return new Dense(bits, hash, count);
    }

    /** This with tokens that it does not have. */
    Dense with(long[] fresh) {
        Dense more = of(fresh);
        long[] both = bits.clone();
        for (int word = 0; word < both.length; word++) {
            both[word] |= fresh[word];
        }
        return new Dense(both, hash + more.hash, count + more.count);
    }

    boolean has(int token) {
        return (bits[token >>> 6] & 1L << token) != 0;
    }
}
