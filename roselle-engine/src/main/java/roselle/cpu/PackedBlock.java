package roselle.cpu;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import roselle.cpu.machine.Panel;
import roselle.cpu.machine.PanelLoader;
import roselle.cpu.machine.TileKernels;
import roselle.tensor.DataType;

/**
 * A block of a weight in panels, each of its matrices (or its part of one) beginning with a panel of its own.
 *
 * @param columns of the weight
 * @param runRows rows that follow each other in panels without a gap
 */
record PackedBlock(Panel panel, DataType type, int columns, int runRows, MemorySegment memory) {
    int runPanels() {
        return Panel.count(runRows);
    }

    long panelBytes() {
        return panel.bytes(columns);
    }

    /** The panel that has a row of the block, counted through all runs. */
    int panelOf(int row) {
        return row / runRows * runPanels() + row % runRows / Panel.OUTPUTS;
    }

    /** The place of a row in its panel. */
    int outputOf(int row) {
        return row % runRows % Panel.OUTPUTS;
    }

    /** Fills the panels from a checkpoint, on all threads. */
    static void fill(WorkerPool pool, TileKernels kernels, PackedBlock packed, CpuWeight.Block source) {
        int panels = source.rows() / packed.runRows * packed.runPanels();
        var next = new AtomicInteger();
        pool.run((thread, threads) -> {
            try (var loader = new PanelLoader(kernels, packed.panel, packed.type, packed.columns)) {
                for (int p = next.getAndIncrement(); p < panels; p = next.getAndIncrement()) {
                    int run = p / packed.runPanels();
                    int inRun = p % packed.runPanels() * Panel.OUTPUTS;
                    int rows = Math.min(Panel.OUTPUTS, packed.runRows - inRun);
                    long from = ((long) run * packed.runRows + inRun) * source.rowBytes();
                    loader.pack(source.data(), from, rows, packed.memory, p * packed.panelBytes());
                }
            }
        });
    }
}
