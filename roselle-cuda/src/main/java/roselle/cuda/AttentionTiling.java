package roselle.cuda;

/** How attention on tensor cores cuts a sequence's positions into pieces, as {@code attention.cuh} has it. */
final class AttentionTiling {
    /** Positions of a page of the cache. */
    static final int PAGE = 16;

    /** Positions of a tile of keys and values. */
    static final int TILE = 64;

    /** Positions of a split: those of a partial result. */
    static final int SPLIT = 128;

    private AttentionTiling() {}
}
