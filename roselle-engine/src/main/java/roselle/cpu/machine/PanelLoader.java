package roselle.cpu.machine;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import roselle.tensor.DataType;

/**
 * Puts rows of a checkpoint into panels, by machine code where there is some for the type; one thread's own.
 *
 * <p>Java copies sixteen rows to memory of our own, because the checkpoint's file may shrink, and the code turns them
 * around there: that is as fast as memory, and needs no warming up. {@link PanelPacker} is the twin, and does the rest.
 */
public final class PanelLoader implements AutoCloseable {
    private static final int LINE = 64;

    private final Arena arena = Arena.ofConfined();
    private final PanelPacker packer;
    private final TileKernels.Call call;
    private final boolean isTurned;
    private final Panel panel;
    private final DataType type;
    private final int columns;
    private final MemorySegment rows; // [OUTPUTS][stride], and a line that is read and not used
    private final long stride;

    /** A loader for rows of so many columns. */
    public PanelLoader(TileKernels kernels, Panel panel, DataType type, int columns) {
        packer = new PanelPacker(panel, type, columns);
        call = kernels.call();
        isTurned = kernels.turns(panel);
        this.panel = panel;
        this.type = type;
        this.columns = columns;
        // one line more, so that rows do not meet in one set of the cache
        stride = (type.rowBytes(panel.paddedColumns(columns)) + LINE - 1) / LINE * LINE + LINE;
        rows = arena.allocate(isByCode() ? Panel.OUTPUTS * stride + LINE : 0, LINE);
    }

    private boolean isByCode() {
        return isTurned
                && switch (panel) {
                    case BYTE, NIBBLE, NIBBLE_WITH_MINIMUM -> true;
                    case BFLOAT16 -> type == DataType.BF16;
                    case FLOAT16 -> type == DataType.F16;
                    case FLOAT32 -> type == DataType.F32;
                    case SIX_BITS -> false;
                };
    }

    /** Writes a panel from {@code count} rows, at most {@link Panel#OUTPUTS}; the target holds zeros. */
    public void pack(MemorySegment source, long from, int count, MemorySegment target, long to) {
        if (!isByCode()) {
            packer.pack(source, from, count, target, to);
            return;
        }
        long rowBytes = type.rowBytes(columns);
        for (int row = 0; row < count; row++) {
            MemorySegment.copy(source, from + row * rowBytes, rows, row * stride, rowBytes);
        }
        if (count < Panel.OUTPUTS) {
            rows.asSlice(count * stride).fill((byte) 0);
        }
        long address = target.address() + to;
        if (panel.hasScales()) {
            call.units(panel, rows.address() + headBytes(), stride, address, panel.units(columns));
            packer.scales(rows, stride, target, to);
        } else {
            long bytes = type.rowBytes(panel.paddedColumns(columns));
            call.weights(panel, rows.address(), stride, address, Math.toIntExact(bytes / LINE));
        }
    }

    /** Bytes of a block before its codes. */
    private int headBytes() {
        return panel == Panel.NIBBLE_WITH_MINIMUM ? PanelPacker.FACTORS_BYTES : Short.BYTES;
    }

    @Override
    public void close() {
        arena.close();
    }
}
