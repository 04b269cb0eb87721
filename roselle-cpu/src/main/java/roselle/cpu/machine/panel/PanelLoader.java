package roselle.cpu.machine.panel;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import roselle.tensor.DataType;

/**
 * Puts rows of a checkpoint into panels, by machine code where there is some for the type; one thread's own.
 *
 * <p>Java copies sixteen rows to memory of our own, because the checkpoint's file may shrink, and the code turns them
 * around there: that is nearly as fast as memory, and needs no warming up. {@link PanelPacker} is the twin, and does the rest.
 */
public final class PanelLoader implements AutoCloseable {
    private static final int LINE = 64;

    private final Arena arena = Arena.ofConfined();
    private final PanelPacker packer;
    private final TileKernels.Call call;
    private final boolean isByCode;
    private final boolean isConverted;
    private final Panel panel;
    private final DataType type;
    private final int columns;
    private final MemorySegment rows; // a line, [OUTPUTS][stride], a line: those around it are read and not used
    private final long stride;
    private final MemorySegment converted; // [OUTPUTS][convertedStride]
    private final long convertedStride;

    /** A loader for rows of so many columns. */
    public PanelLoader(TileKernels kernels, Panel panel, DataType type, int columns) {
        this(kernels, panel, type, columns, Arena::allocate);
    }

    /** Takes memory for rows from elsewhere. */
    interface Memory {
        MemorySegment allocate(Arena arena, long bytes, long alignment);
    }

    PanelLoader(TileKernels kernels, Panel panel, DataType type, int columns, Memory memory) {
        packer = new PanelPacker(panel, type, columns);
        call = kernels.call();
        isByCode = kernels.turns(type, panel);
        isConverted =
                isByCode && (panel.equals(Panel.SPLIT) || (panel.equals(Panel.BFLOAT16) && type != DataType.BF16));
        this.panel = panel;
        this.type = type;
        this.columns = columns;
        int padded = panel.paddedColumns(columns);
        stride = stride(type.rowBytes(padded));
        rows = memory.allocate(arena, isByCode ? Panel.OUTPUTS * stride + 2 * LINE : 0, LINE);
        convertedStride = stride(panelRowBytes());
        converted = memory.allocate(arena, isConverted ? Panel.OUTPUTS * convertedStride : 0, LINE);
    }

    /** Whole lines and one more, so that rows do not meet in one set of the cache. */
    private static long stride(long bytes) {
        return (bytes + LINE - 1) / LINE * LINE + LINE;
    }

    /** Writes a panel from {@code count} rows, at most {@link Panel#OUTPUTS}; the target holds zeros. */
    public void pack(MemorySegment source, long from, int count, MemorySegment target, long to) {
        if (!isByCode) {
            packer.pack(source, from, count, target, to);
            return;
        }
        long rowBytes = type.rowBytes(columns);
        for (int row = 0; row < count; row++) {
            MemorySegment.copy(source, from + row * rowBytes, rows, LINE + row * stride, rowBytes);
        }
        if (count < Panel.OUTPUTS) {
            rows.asSlice(LINE + count * stride).fill((byte) 0);
        }
        long first = rows.address() + LINE;
        long address = target.address() + to;
        if (panel.hasScales()) {
            call.blocks(type, panel, first, stride, address, columns);
        } else if (isConverted) {
            convert(first);
            call.weights(panel, converted.address(), convertedStride, address, lines(panelRowBytes()));
        } else {
            call.weights(panel, first, stride, address, lines(type.rowBytes(panel.paddedColumns(columns))));
        }
    }

    private void convert(long first) {
        for (int row = 0; row < Panel.OUTPUTS; row++) {
            long to = converted.address() + row * convertedStride;
            call.convert(type, first + row * stride, to, panel.paddedColumns(columns));
        }
    }

    /** Bytes that an output has in a panel without scales. */
    private long panelRowBytes() {
        return panel.bytes(columns) / Panel.OUTPUTS;
    }

    private static int lines(long bytes) {
        return Math.toIntExact(bytes / LINE);
    }

    @Override
    public void close() {
        arena.close();
    }
}
