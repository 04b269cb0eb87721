package roselle.engine;

/** Where answers draw their tokens from whose requests name no seed. */
final class Seeds {
    private Seeds() {}

    /** Spreads the bits of a number (the finaliser of SplitMix64). */
    static long spread(long bits) {
        long z = (bits ^ bits >>> 30) * 0xBF58476D1CE4E5B9L;
        z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
        return z ^ z >>> 31;
    }
}
