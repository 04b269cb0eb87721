package roselle.cpu.memory;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import roselle.cpu.machine.OwnedMemory;
import roselle.cpu.machine.panel.Panel;
import roselle.cpu.machine.panel.PanelLoader;
import roselle.cpu.machine.panel.TileKernels;
import roselle.cpu.thread.WorkerPool;
import roselle.tensor.DataType;

/**
 * A block of a weight in panels, each of its matrices (or its part of one) beginning with a panel of its own.
 *
 * @param columns of the weight
 * @param runRows rows that follow each other in panels without a gap
 * @param isFinite whether all scales are finite
 */
public record PackedBlock(
        Panel panel, DataType type, int columns, int runRows, MemorySegment memory, boolean isFinite) {
    private static final long BYTES_AT_A_TIME = 1 << 19;

    /** What panels are filled from, and the memory that they lie in. */
    record Filling(CpuWeight.Block source, OwnedMemory.Piece target) {}

    int runPanels() {
        return Panel.count(runRows);
    }

    public long panelBytes() {
        return panel.bytes(columns);
    }

    /** Where in the memory the panel begins that has a row of the block, counted through all runs. */
    public long panelAt(int row) {
        return (row / runRows * runPanels() + row % runRows / Panel.OUTPUTS) * panelBytes();
    }

    /** The place of a row in its panel. */
    public int outputOf(int row) {
        return row % runRows % Panel.OUTPUTS;
    }

    /** Panels that have {@code rows} rows from one on, as far as its run goes; at most so many. */
    public int panelsFrom(int row, int rows, int mostPanels) {
        return Math.min(mostPanels, Panel.count(outputOf(row) + inRun(row, rows)));
    }

    /** How many of {@code rows} rows from one on so many panels have. */
    public int rowsIn(int panels, int row, int rows) {
        return Math.min(inRun(row, rows), panels * Panel.OUTPUTS - outputOf(row));
    }

    private int inRun(int row, int rows) {
        return Math.min(rows, runRows - row % runRows);
    }

    /** Fills the panels from a checkpoint, on all threads, which take some hundred kilobytes of panels at a time. */
    static PackedBlock fill(WorkerPool pool, TileKernels kernels, PackedBlock packed, Filling filling) {
        int panels = filling.source.rows() / packed.runRows * packed.runPanels();
        int together = Math.toIntExact(Math.max(1, BYTES_AT_A_TIME / packed.panelBytes()));
        var next = new AtomicInteger();
        var isFinite = new AtomicBoolean(true);
        pool.run((thread, threads) -> {
            try (var loader = new PanelLoader(kernels, packed.panel, packed.type, packed.columns)) {
                for (int p = next.getAndAdd(together); p < panels; p = next.getAndAdd(together)) {
                    if (!packed.fill(loader, filling, p, Math.min(p + together, panels))) {
                        isFinite.set(false);
                    }
                }
            }
        });
        return new PackedBlock(
                packed.panel, packed.type, packed.columns, packed.runRows, packed.memory, isFinite.get());
    }

    /** Fills some panels; whether their scales are finite. */
    private boolean fill(PanelLoader loader, Filling filling, int first, int end) {
        CpuWeight.Block source = filling.source;
        filling.target.back(first * panelBytes(), (end - first) * panelBytes());
        boolean areFinite = true;
        boolean areWritten = panel.isWrittenWhole(columns);
        for (int p = first; p < end; p++) {
            int run = p / runPanels();
            int inRun = p % runPanels() * Panel.OUTPUTS;
            long from = ((long) run * runRows + inRun) * source.rowBytes();
            long to = p * panelBytes();
            int count = Math.min(Panel.OUTPUTS, runRows - inRun);
            if (count < Panel.OUTPUTS || !areWritten) {
                filling.target.clear(to, panelBytes());
            }
            loader.pack(source.data(), from, count, memory, to);
            areFinite &= panel.hasFiniteScales(memory, to, columns);
        }
        return areFinite;
    }
}
