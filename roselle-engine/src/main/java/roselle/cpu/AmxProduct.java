package roselle.cpu;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import roselle.cpu.machine.AmxKernels;
import roselle.cpu.machine.Panel;

/**
 * One thread's part of a product in AMX tiles.
 *
 * <p>A few panels become bfloat16, a piece of k at a time, in a buffer that the caches hold, and meet all activation rows
 * there. Sums go on from piece to piece in the order of k, so that the sizes of pieces do not change a bit.
 */
final class AmxProduct {
    /** Rows that a buffer in the first cache serves; more are worth one in the second. */
    private static final int FEW_ROWS = AmxKernels.MOST_ROWS;

    private static final int FEW_PANELS = 4;
    private static final int FEW_DEPTH = AmxKernels.UNIT;
    private static final int PANELS = 8;
    private static final int DEPTH = 2048;

    private static final int OUTPUTS = PANELS * Panel.OUTPUTS;
    private static final long OUTPUT_BYTES = (long) OUTPUTS * Float.BYTES;

    private final AmxKernels.Call call;
    private final MemorySegment unpacked; // [PANELS][DEPTH / 2][Panel.OUTPUTS][2], bfloat16
    private final MemorySegment outputs; // [Product.MAX_ROWS][OUTPUTS]
    private final float[] sums = new float[OUTPUTS + Lanes.COUNT];

    AmxProduct(AmxKernels kernels, Arena arena) {
        call = kernels.call();
        unpacked = arena.allocate((long) PANELS * DEPTH * AmxKernels.BYTES_PER_COLUMN, 64);
        outputs = arena.allocate(Product.MAX_ROWS * OUTPUT_BYTES, 64);
    }

    /** Multiplies with the panels that have weight rows from {@code inBlock} on; how many weight rows that were. */
    int chunk(
            long input,
            long rowBytes,
            int rows,
            PackedBlock packed,
            int inBlock,
            int most,
            int weightRow,
            Product.Sink sink) {
        int skipped = packed.outputOf(inBlock);
        int panels = packed.panelsFrom(inBlock, most, rows <= FEW_ROWS ? FEW_PANELS : PANELS);
        int count = packed.rowsIn(panels, inBlock, most);
        long weights = packed.memory().address() + packed.panelAt(inBlock);
        call.weights(packed.panel(), packed.type(), packed.columns());
        multiply(input, rowBytes, rows, packed, weights, panels);
        for (int r = 0; r < rows; r++) {
            MemorySegment.copy(outputs, JAVA_FLOAT, r * OUTPUT_BYTES + (long) skipped * Float.BYTES, sums, 0, count);
            sink.store(r, weightRow, count, sums, 0);
        }
        return count;
    }

    private void multiply(long input, long rowBytes, int rows, PackedBlock packed, long weights, int panels) {
        int columns = packed.panel().paddedColumns(packed.columns());
        boolean isStreamed = rows <= FEW_ROWS && !call.isUnpacked();
        int depth = isStreamed ? columns : rows <= FEW_ROWS ? FEW_DEPTH : DEPTH;
        for (int k = 0; k < columns; k += depth) {
            int end = Math.min(k + depth, columns);
            long from = weights + (long) k * AmxKernels.BYTES_PER_COLUMN;
            long panelBytes = packed.panelBytes();
            if (call.isUnpacked()) {
                from = unpacked.address();
                panelBytes = (long) (end - k) * AmxKernels.BYTES_PER_COLUMN;
                call.unpack(weights, panels, k, end, from);
            }
            call.distances(rowBytes, OUTPUT_BYTES, panelBytes);
            call.depth(end - k, k > 0);
            for (int r = 0; r < rows; r += AmxKernels.MOST_ROWS) {
                int together = Math.min(AmxKernels.MOST_ROWS, rows - r);
                long x = input + r * rowBytes + (long) k * Short.BYTES;
                call.multiply(x, together, from, panels, outputs.address() + r * OUTPUT_BYTES);
            }
        }
    }
}
