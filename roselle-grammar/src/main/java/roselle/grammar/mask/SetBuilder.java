package roselle.grammar.mask;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** A set of tokens while it is made; used again and again. Not thread-safe. */
final class SetBuilder {
    /** Sets of more differences become a base. */
    private static final int MAX_LISTED = 1024;

    /** One that nobody uses, in the place of those that are lent. */
    static final SetBuilder NONE = new SetBuilder(0);

    private final long[] isAdded;
    private final long[] isRemoved;
    private int[] added = new int[256]; // some may have been taken back: the bits count
    private int[] removed = new int[256];
    private int addedSize;
    private int removedSize;
    private @Nullable Dense base;

    SetBuilder(int words) {
        this.isAdded = new long[words];
        this.isRemoved = new long[words];
    }

    private static boolean has(long[] bits, int token) {
        return (bits[token >>> 6] & 1L << token) != 0;
    }

    void add(int token) {
        long bit = 1L << token;
        if (base != null && base.has(token)) {
            isRemoved[token >>> 6] &= ~bit;
        } else if ((isAdded[token >>> 6] & bit) == 0) {
            isAdded[token >>> 6] |= bit;
            if (addedSize == added.length) {
                added = Arrays.copyOf(added, 2 * addedSize);
            }
            added[addedSize++] = token;
        }
    }

    /** Whether a token is among what has been built so far. */
    boolean has(int token) {
        return (base != null && base.has(token)) ? !has(isRemoved, token) : has(isAdded, token);
    }

    void remove(int token) {
        long bit = 1L << token;
        if (base == null || !base.has(token)) {
            isAdded[token >>> 6] &= ~bit;
        } else if ((isRemoved[token >>> 6] & bit) == 0) {
            isRemoved[token >>> 6] |= bit;
            if (removedSize == removed.length) {
                removed = Arrays.copyOf(removed, 2 * removedSize);
            }
            removed[removedSize++] = token;
        }
    }

    /** Removes the tokens between two places of a list. */
    void removeAll(int[] tokens, int from, int to) {
        for (int i = from; i < to; i++) {
            remove(tokens[i]);
        }
    }

    /** Adds all tokens of a set. */
    void addAll(TokenSet set) {
        if (set.base() != null) {
            addBase(set.base(), set.removed());
        }
        int[] more = set.added();
        if (base != null || more.length == 0) {
            for (int token : more) {
                add(token);
            }
            return;
        }
        if (added.length < addedSize + more.length) {
            added = Arrays.copyOf(added, 2 * (addedSize + more.length));
        }
        int size = addedSize;
        for (int token : more) {
            added[size] = token;
            size += (int) (~isAdded[token >>> 6] >>> token & 1); // one that is there already is overwritten
            isAdded[token >>> 6] |= 1L << token;
        }
        addedSize = size;
    }

    @SuppressWarnings("ReferenceEquality") // bases are told apart by identity
    private void addBase(Dense other, int[] without) {
        if (base == null) {
            int[] before = Arrays.copyOf(added, live(added, addedSize, isAdded));
            addedSize = 0;
            base = other;
            for (int token : without) {
                remove(token);
            }
            for (int token : before) {
                add(token);
            }
        } else if (base == other) {
            for (int i = 0; i < removedSize; i++) {
                if (Arrays.binarySearch(without, removed[i]) < 0) {
                    isRemoved[removed[i] >>> 6] &= ~(1L << removed[i]);
                }
            }
        } else {
            addOther(base, other, without);
        }
    }

    /** Adds another base: to the one that has more of both, what it lacks. */
    private void addOther(Dense before, Dense other, int[] without) {
        long[] fresh = other.bits.clone();
        for (int token : without) {
            fresh[token >>> 6] &= ~(1L << token);
        }
        long[] lacking = new long[fresh.length]; // what the other has not
        int count = 0;
        int countLacking = 0;
        for (int word = 0; word < fresh.length; word++) {
            long here = (before.bits[word] & ~isRemoved[word]) | isAdded[word];
            lacking[word] = here & ~fresh[word];
            fresh[word] &= ~here;
            count += Long.bitCount(fresh[word]);
            countLacking += Long.bitCount(lacking[word]);
        }
        if (countLacking < count && countLacking <= MAX_LISTED) {
            clear();
            base = other;
            for (int token : without) {
                remove(token);
            }
            addAll(lacking);
        } else if (count > MAX_LISTED) {
            Dense both = dense(before).with(fresh);
            drop();
            base = both;
        } else {
            addAll(fresh);
        }
    }

    private void addAll(long[] bits) {
        for (int word = 0; word < bits.length; word++) {
            for (long rest = bits[word]; rest != 0; rest &= rest - 1) {
                add((word << 6) + Long.numberOfTrailingZeros(rest));
            }
        }
    }

    /** A base with the differences from it. */
    private Dense dense(Dense before) {
        long[] bits = new long[isAdded.length];
        for (int word = 0; word < bits.length; word++) {
            bits[word] = (before.bits[word] & ~isRemoved[word]) | isAdded[word];
        }
        settle();
        return Dense.of(bits, hash());
    }

    /** Moves the tokens of a list that are still meant to its front, each once, and clears their bits; tells how many there are. */
    private static int live(int[] tokens, int size, long[] bits) {
        int count = 0;
        for (int i = 0; i < size; i++) {
            int token = tokens[i];
            if (has(bits, token)) { // one that was taken back and came again is listed twice
                bits[token >>> 6] &= ~(1L << token);
                tokens[count++] = token;
            }
        }
        return count;
    }

    /** Ends building: behind it come {@link #hash}, and {@link #settled} or {@link #drop}. */
    void settle() {
        addedSize = live(added, addedSize, isAdded);
        removedSize = live(removed, removedSize, isRemoved);
    }

    /** The sum of the hashes of all tokens. */
    long hash() {
        long hash = base == null ? 0 : base.hash;
        for (int i = 0; i < addedSize; i++) {
            hash += TokenHash.of(added[i]);
        }
        for (int i = 0; i < removedSize; i++) {
            hash -= TokenHash.of(removed[i]);
        }
        return hash;
    }

    /** What has been built; the builder is empty behind it. */
    TokenSet finish() {
        settle();
        return settled();
    }

    /** The same where building has ended. */
    TokenSet settled() {
        boolean isDense = addedSize + removedSize > MAX_LISTED;
        long hash = isDense ? hash() : 0;
        int[] less = Arrays.copyOf(removed, removedSize);
        Arrays.sort(less);
        TokenSet made = new TokenSet(base, Arrays.copyOf(added, addedSize), less);
        drop();
        return isDense ? TokenSet.of(Dense.of(made.bits(isAdded.length), hash)) : made;
    }

    /** Forgets everything. */
    void clear() {
        for (int i = 0; i < addedSize; i++) {
            isAdded[added[i] >>> 6] = 0;
        }
        for (int i = 0; i < removedSize; i++) {
            isRemoved[removed[i] >>> 6] = 0;
        }
        drop();
    }

    /** Forgets everything where building has ended. */
    void drop() {
        addedSize = 0;
        removedSize = 0;
        base = null;
    }
}
