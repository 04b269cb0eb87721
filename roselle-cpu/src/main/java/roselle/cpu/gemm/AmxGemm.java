package roselle.cpu.gemm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import roselle.cpu.machine.Compute;
import roselle.cpu.machine.amx.AmxKernels;
import roselle.cpu.machine.panel.Panel;
import roselle.cpu.machine.panel.TileKernels;
import roselle.cpu.memory.MachineCode;
import roselle.cpu.memory.PackedBlock;
import roselle.tensor.DataType;

/**
 * One thread's part of a product in AMX tiles.
 *
 * <p>A few panels become bfloat16, a piece of k at a time, in a buffer that the caches hold, and meet all activation rows
 * there. Sums go on from piece to piece in the order of k, so that the sizes of pieces do not change a bit. A row or a few
 * meet panels with scales in registers, where these have the bits of tiles.
 */
final class AmxGemm {
    // of ten sizes tried, these multiply fastest on a Xeon with 2 MB of second cache a core
    private static final int PANELS = 16;
    private static final int DEPTH = 2048;

    /** Two tiles of split rows and a panel or two, as deep as this, fill less than a first cache. */
    private static final int SPLIT_DEPTH = 128;

    /** Panels for as few rows as a call takes. */
    private static final int FEW_ROWS_PANELS = 8;

    /** Panels that are multiplied side by side: there are never fewer together, unless there are no more. */
    private static final int GROUP = 4;

    /**
     * Weights of a call at most that multiplies whole rows, as calls with few activations do: a core reads them in a quarter
     * of a millisecond where memory gives it 16 GB/s, and a safepoint waits for no more than a call.
     */
    private static final int MAX_WEIGHTS = 1 << 21;

    private static final int OUTPUTS = PANELS * Panel.OUTPUTS;

    /** Rows of outputs are skewed against each other in the caches. */
    private static final long OUTPUT_BYTES = (long) OUTPUTS * Float.BYTES + 64;

    private static final long UNPACKED_BYTES = (long) PANELS * DEPTH * AmxKernels.BYTES_PER_COLUMN;

    private final AmxKernels.Call call;
    private final TileKernels.Call widening;
    private final int mostInRegisters; // rows
    private final Arena arena;
    private final MemorySegment unpacked; // [PANELS][DEPTH / 2][Panel.OUTPUTS][2], bfloat16
    private final MemorySegment outputs; // [VectorGemm.MAX_ROWS][OUTPUTS]
    private MemorySegment widened = MemorySegment.NULL; // [AmxKernels.FEW_ROWS][columns], float32

    private long input;
    private long rowBytes;
    private int rows;
    private int columns;

    AmxGemm(MachineCode code, AmxKernels kernels, Arena arena) {
        call = kernels.call();
        widening = code.tiles(Compute.F32).call();
        mostInRegisters = code.agreesInRegisters() ? AmxKernels.FEW_ROWS : 0;
        this.arena = arena;
        unpacked = arena.allocate(UNPACKED_BYTES, 64);
        outputs = arena.allocate(VectorGemm.MAX_ROWS * OUTPUT_BYTES, 64);
    }

    /** Bytes that a thread takes at most for rows of so many columns, padded. */
    static long bytes(int mostColumns) {
        long widenedBytes = (long) AmxKernels.FEW_ROWS * mostColumns * Float.BYTES;
        return UNPACKED_BYTES + VectorGemm.MAX_ROWS * OUTPUT_BYTES + widenedBytes;
    }

    /** Bytes that this thread has taken. */
    long bytes() {
        return unpacked.byteSize() + outputs.byteSize() + widened.byteSize();
    }

    /** Makes room for rows of so many columns, padded. */
    void reserve(int mostColumns) {
        long bytes = mostInRegisters * (long) mostColumns * Float.BYTES;
        if (widened.byteSize() < bytes) {
            widened = arena.allocate(bytes, 64);
        }
    }

    /** Chooses the activation rows, {@code newRowBytes} apart, of so many columns, padded. */
    void rows(long newInput, long newRowBytes, int newRows, int newColumns) {
        input = newInput;
        rowBytes = newRowBytes;
        rows = newRows;
        columns = newColumns;
        if (rows <= mostInRegisters) {
            reserve(columns);
            for (int r = 0; r < rows; r++) {
                long to = widened.address() + (long) r * columns * Float.BYTES;
                widening.convert(DataType.BF16, input + r * rowBytes, to, columns);
            }
        }
    }

    /** Panels of a chunk at most: fewer where a call multiplies whole rows and these are very long. */
    static int panels(int rows, int columns) {
        if (rows > AmxKernels.MAX_ROWS) {
            return PANELS;
        }
        int groups = MAX_WEIGHTS / (GROUP * Panel.OUTPUTS) / columns;
        return Math.clamp(groups, 1, PANELS / GROUP) * GROUP;
    }

    /** Multiplies with the panels that have weight rows from {@code inBlock} on; how many weight rows that were. */
    int chunk(PackedBlock packed, int inBlock, int most, int weightRow, VectorGemm.Sink sink) {
        int skipped = packed.outputOf(inBlock);
        int panels = packed.panelsFrom(inBlock, most, panels(rows, columns));
        int count = packed.rowsIn(panels, inBlock, most);
        long weights = packed.memory().address() + packed.panelAt(inBlock);
        call.weights(packed.panel(), packed.type(), packed.columns());
        if (call.isUnpacked() && rows <= mostInRegisters && packed.isFinite()) {
            long widenedBytes = (long) columns * Float.BYTES;
            call.multiplyFew(widened.address(), widenedBytes, rows, weights, panels, outputs.address(), OUTPUT_BYTES);
        } else {
            multiply(packed, weights, panels);
        }
        for (int r = 0; r < rows; r++) {
            sink.store(r, weightRow, count, outputs, r * OUTPUT_BYTES + (long) skipped * Float.BYTES);
        }
        return count;
    }

    private void multiply(PackedBlock packed, long weights, int panels) {
        boolean isFew = rows <= AmxKernels.MAX_ROWS;
        if (!call.isUnpacked()) {
            int depth = packed.panel().equals(Panel.SPLIT) ? SPLIT_DEPTH : DEPTH;
            multiply(packed, weights, panels, isFew ? columns : depth, outputs.address());
            return;
        }
        int together = isFew ? FEW_ROWS_PANELS : PANELS;
        for (int p = 0; p < panels; p += together) {
            long from = weights + p * packed.panelBytes();
            long to = outputs.address() + (long) p * Panel.OUTPUTS * Float.BYTES;
            multiply(packed, from, Math.min(together, panels - p), DEPTH, to);
        }
    }

    private void multiply(PackedBlock packed, long weights, int panels, int depth, long output) {
        long columnBytes =
                packed.panel().equals(Panel.SPLIT) ? AmxKernels.SPLIT_BYTES_PER_COLUMN : AmxKernels.BYTES_PER_COLUMN;
        for (int k = 0; k < columns; k += depth) {
            int end = Math.min(k + depth, columns);
            long from = weights + (long) k * columnBytes;
            long panelBytes = packed.panelBytes();
            if (call.isUnpacked()) {
                from = unpacked.address();
                panelBytes = (long) (end - k) * AmxKernels.BYTES_PER_COLUMN;
                call.unpack(weights, panels, k, end, from);
            }
            call.distances(rowBytes, OUTPUT_BYTES, panelBytes);
            call.depth(end - k, k > 0);
            for (int r = 0; r < rows; r += AmxKernels.MAX_ROWS) {
                int together = Math.min(AmxKernels.MAX_ROWS, rows - r);
                long x = input + r * rowBytes + k * columnBytes / Panel.OUTPUTS;
                call.multiply(x, together, from, panels, output + r * OUTPUT_BYTES);
            }
        }
    }
}
