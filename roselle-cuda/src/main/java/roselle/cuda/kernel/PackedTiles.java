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

    private PackedTiles() {}
}
