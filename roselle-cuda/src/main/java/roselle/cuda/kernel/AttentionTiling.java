package roselle.cuda.kernel;

/** How attention on tensor cores cuts a sequence's positions into pieces, as {@code attention.cuh} has it. */
public final class AttentionTiling {
    /** Positions of a page of the cache. */
    public static final int PAGE = 16;

    /** Positions of a tile of keys and values. */
    public static final int TILE = 64;

    /** Positions of a split: those of a partial result. */
    public static final int SPLIT = 128;

    private AttentionTiling() {}
}
