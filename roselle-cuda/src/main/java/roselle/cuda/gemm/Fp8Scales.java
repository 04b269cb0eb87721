package roselle.cuda.gemm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import roselle.api.DeviceException;
import roselle.cuda.kernel.Launcher;
import roselle.cuda.kernel.PackedTiles;

/**
 * The scales of a weight of {@link roselle.tensor.DataType#F8_E4M3_128}, each of which goes before 128 codes of a row, as products in
 * FP8 take them: one for each tile of 64 rows, times one for each row. Scales of 128 × 128 blocks, of rows, and of whole tensors can
 * be had so.
 */
final class Fp8Scales {
    private static final int TILE = PackedTiles.TILE;
    private static final long BLOCK_BYTES = Float.BYTES + Fp8Linear.COLUMNS;

    private final String name;
    private final int columnTiles;
    private final float[] tiles; // [row tiles, tiles of columns]
    private final float[] rows;

    /** Room for those of a weight. */
    Fp8Scales(String name, int rows, int columns) {
        this.name = name;
        columnTiles = columns / Fp8Linear.COLUMNS;
        int rowTiles = Launcher.cover(rows, 2 * TILE) * 2;
        tiles = new float[rowTiles * columnTiles];
        this.rows = new float[rowTiles * TILE];
        Arrays.fill(tiles, 1f);
        Arrays.fill(this.rows, 1f);
    }

    /**
     * Reads those of rows that begin with a tile.
     *
     * @param blocks scales and codes, row by row
     * @throws DeviceException if a tile has scales that are neither equal in all its rows nor in all of each row
     */
    void read(MemorySegment blocks, int firstTile, int count) {
        for (int first = 0; first < count; first += TILE) {
            read(blocks, first, Math.min(TILE, count - first), firstTile + first / TILE);
        }
    }

    private void read(MemorySegment blocks, int first, int count, int tile) {
        boolean isOfTile = true;
        boolean isOfRows = true;
        for (int row = first; row < first + count; row++) {
            for (int k = 0; k < columnTiles; k++) {
                float scale = scale(blocks, row, k);
                isOfTile &= scale == scale(blocks, first, k);
                isOfRows &= scale == scale(blocks, row, 0);
            }
        }
        if (isOfTile) {
            for (int k = 0; k < columnTiles; k++) {
                tiles[tile * columnTiles + k] = scale(blocks, first, k);
            }
        } else if (isOfRows) {
            for (int row = 0; row < count; row++) {
                rows[tile * TILE + row] = scale(blocks, first + row, 0);
            }
        } else {
            throw new DeviceException("weight " + name + " has scales that differ along its rows and along its columns,"
                    + " which products in FP8 cannot take: take --compute bf16");
        }
    }

    private float scale(MemorySegment blocks, int row, int k) {
        return blocks.get(ValueLayout.JAVA_FLOAT_UNALIGNED, ((long) row * columnTiles + k) * BLOCK_BYTES);
    }

    /** Of each tile. */
    float[] tiles() {
        return tiles;
    }

    /** Of each row, those that only fill a tile among them. */
    float[] rows() {
        return rows;
    }
}
