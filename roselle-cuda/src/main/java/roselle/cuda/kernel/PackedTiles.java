package roselle.cuda.kernel;

/** How packed weights lie in memory, and how products with them are cut, as {@code rings.cuh} has it. */
public final class PackedTiles {
    /** Rows, and columns, of a tile. */
    public static final int TILE = 64;

    /** Bytes of a tile of 16-bit numbers. */
    public static final int TILE_BYTES = TILE * TILE * Short.BYTES;

    /** Bytes of a tile's columns of one row. */
    public static final int ROW_BYTES = TILE * Short.BYTES;

    /** Parts at most that the columns of a weight are cut into. */
    public static final int MAX_SLICES = 8;

    /** Bytes to whose multiples the stages of a block's shared memory are moved up. */
    public static final int STAGE_ALIGNMENT = 1024;

    /** Bytes of the two barriers of a stage. */
    public static final int BARRIER_BYTES = 2 * Long.BYTES;

    /** Shared memory of which two blocks do not fit into a multiprocessor of Hopper, but one beside most others. */
    private static final int MORE_THAN_HALF = 228 * 1024 / 2 - 1024 + 16;

    private static final int MULTIPROCESSORS = 132;

    private PackedTiles() {}

    /**
     * Shared memory for blocks that need some and walk so many tiles of K: so much that a multiprocessor takes one of them, where all
     * have one for themselves. Blocks start as those of the kernel before leave; where two fit, some multiprocessors take two and
     * others none, and one alone does not draw twice as much from memory. Short ones are done before that shows, and would keep the
     * next kernel's from starting early (docs/performance.md).
     */
    public static int spread(int sharedBytes, long blocks, int tiles, int stages) {
        return blocks <= MULTIPROCESSORS && tiles > 2 * stages ? Math.max(sharedBytes, MORE_THAN_HALF) : sharedBytes;
    }
}
