package roselle.cpu.gemm;

import java.lang.foreign.MemorySegment;
import roselle.cpu.format.Unpacked;
import roselle.cpu.format.WeightFormat;
import roselle.cpu.memory.CpuWeight;
import roselle.cpu.thread.Touch;
import roselle.cpu.vector.Lanes;

/**
 * One thread's part of a product of packed activation rows with weight rows.
 *
 * <p>Few or many activation rows, every pair of rows is summed in the same order (see {@link Tile}): a single row streams
 * the weights and decodes them in registers, several rows share weight rows that are decoded once into a panel that the
 * cache holds.
 */
final class VectorGemm {
    /** Activation rows of one pass over the weights. */
    static final int MAX_ROWS = 512;

    /** Numbers of k in a panel: a panel of {@link Tile#WIDTH} rows and a tile's rows fit the first cache. */
    private static final int DEPTH = Unpacked.NUMBERS;
    /** Weight rows that are decoded together: they and a block of activation rows fit the second cache. */
    static final int CHUNK = 48;
    /** The same where there are few activation rows: a chunk stays in the first cache. */
    private static final int SMALL_CHUNK = 12;

    /** Bytes of weights that are read ahead of a kernel at most. */
    private static final long TOUCHED = 1 << 18;

    private static final int FEW_ROWS = 16;
    /** Activation rows that are multiplied with a chunk before the next ones. */
    private static final int BLOCK = 64;

    /** Receives a chunk of outputs. */
    interface Sink {
        /** Takes {@code count} outputs of activation row {@code row}, from weight row {@code weightRow} on. */
        void store(int row, int weightRow, int count, float[] sums, int at);

        /** The same from native memory, some bytes on. */
        void store(int row, int weightRow, int count, MemorySegment sums, long bytes);
    }

    private final float[] panel = new float[CHUNK * DEPTH];
    private final Unpacked scratch = new Unpacked();
    private final float[] lanes = new float[MAX_ROWS * CHUNK * Lanes.COUNT];
    private final int[] touched = new int[1]; // keeps what was read ahead alive
    private final float[] sums = new float[MAX_ROWS * CHUNK];

    /**
     * Multiplies {@code rows} activation rows, {@code stride} floats apart and padded with zeros to whole vectors, with the
     * weight rows {@code first} until {@code end}, counted through all matrices.
     */
    void multiply(float[] x, int at, int stride, int rows, CpuWeight weight, int first, int end, Sink sink) {
        int limit = rows > 1 && rows <= FEW_ROWS ? SMALL_CHUNK : CHUNK;
        int row = first;
        while (row < end) {
            CpuWeight.Block block = weight.blockOf(row);
            int fitting = Math.min(limit, fitting(block.rowBytes()));
            int count = Math.min(fitting, Math.min(end, block.firstRow() + block.rows()) - row);
            long offset = (row - block.firstRow()) * block.rowBytes();
            touched[0] += Touch.lines(block.data(), offset, count * block.rowBytes());
            if (rows == 1 && block.format().dotsRows(weight.columns())) {
                WeightFormat format = block.format();
                format.dotRows(x, at, block.data(), offset, block.rowBytes(), weight.columns(), count, lanes, scratch);
                Lanes.sums(lanes, 0, count, sums, 0);
            } else {
                chunk(x, at, stride, rows, block, offset, weight.columns(), count);
                finish(rows, count);
            }
            for (int r = 0; r < rows; r++) {
                sink.store(r, row, count, sums, r * CHUNK);
            }
            row += count;
        }
    }

    /** Rows that a touch leaves in the second cache, in whole tiles and groups. */
    private static int fitting(long rowBytes) {
        return (int) Math.max(1, TOUCHED / (SMALL_CHUNK * rowBytes)) * SMALL_CHUNK;
    }

    private void chunk(
            float[] x, int at, int stride, int rows, CpuWeight.Block block, long offset, int columns, int count) {
        for (int k = 0; k < columns; k += DEPTH) {
            int depth = Math.min(DEPTH, columns - k);
            decode(block, offset + block.type().rowBytes(k), depth, count);
            for (int r = 0; r < rows; r += BLOCK) {
                block(x, at + k, stride, r, Math.min(r + BLOCK, rows), rows, Lanes.padded(depth), count, k == 0);
            }
        }
    }

    private void decode(CpuWeight.Block block, long offset, int depth, int count) {
        int step = Tile.WIDTH * Lanes.COUNT;
        for (int n = 0; n < count; n++) {
            int to = n / Tile.WIDTH * Tile.WIDTH * DEPTH + n % Tile.WIDTH * Lanes.COUNT;
            block.format().decode(block.data(), offset + n * block.rowBytes(), depth, panel, to, step, scratch);
        }
    }

    private void block(
            float[] x, int at, int stride, int first, int end, int rows, int depth, int count, boolean starts) {
        int last = rows - 1;
        for (int n = 0; n < count; n += Tile.WIDTH) {
            for (int r = first; r < end; r += Tile.HEIGHT) {
                int to = (r * CHUNK + n * Tile.HEIGHT) * Lanes.COUNT;
                int r0 = at + r * stride;
                if (r == last) {
                    Tile.multiplyOne(x, r0, panel, n * DEPTH, depth, starts, lanes, to);
                } else {
                    int r1 = r0 + stride;
                    int r2 = at + Math.min(r + 2, last) * stride;
                    int r3 = at + Math.min(r + 3, last) * stride;
                    Tile.multiply(x, r0, r1, r2, r3, panel, n * DEPTH, depth, starts, lanes, to);
                }
            }
        }
    }

    private void finish(int rows, int count) {
        for (int r = 0; r < rows; r++) {
            int tile = r / Tile.HEIGHT * Tile.HEIGHT;
            for (int n = 0; n < count; n += Tile.WIDTH) {
                int from = tile * CHUNK + n * Tile.HEIGHT + r % Tile.HEIGHT * Tile.WIDTH;
                Lanes.sums(lanes, from * Lanes.COUNT, Math.min(Tile.WIDTH, count - n), sums, r * CHUNK + n);
            }
        }
    }
}
