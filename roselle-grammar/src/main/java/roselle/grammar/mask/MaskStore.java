package roselle.grammar.mask;

import java.util.HashMap;
import java.util.Map;

/** All masks of a vocabulary that differ: most masks of a schema have been seen in another. Thread-safe. */
final class MaskStore {
    /** Bytes that masks may take before all of them are forgotten; whoever uses one keeps it. */
    private static final long MAX_BYTES = 64L << 20;

    private final int words;
    private final Map<Long, TokenMask> byHash = new HashMap<>();
    private int nextId;
    private long bytes;

    MaskStore(int words) {
        this.words = words;
    }

    /** The mask of what has been built; the builder is empty behind it. */
    synchronized TokenMask mask(SetBuilder builder) {
        builder.settle();
        long hash = builder.hash();
        TokenMask known = byHash.get(hash);
        if (known != null) {
            builder.drop();
            return known;
        }
        if (bytes > MAX_BYTES) {
            byHash.clear();
            bytes = 0;
        }
        TokenMask made = new TokenMask(nextId++, builder.settled(), words);
        byHash.put(hash, made);
        bytes += made.size();
        return made;
    }

    /** Masks made so far. */
    synchronized int made() {
        return nextId;
    }
}
