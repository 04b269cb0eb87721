package roselle.cpu.attention;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import roselle.cpu.machine.Compute;
import roselle.cpu.machine.amx.AmxKernels;
import roselle.cpu.machine.gemm.GemmKernels;
import roselle.cpu.machine.panel.Panel;
import roselle.cpu.machine.panel.TileKernels;
import roselle.cpu.memory.MachineCode;

/**
 * One thread's products of attention's entries with a tile's panels, in AMX tiles where the path and the precision have them.
 *
 * <p>However many entries there are, each has the order of sums that its kernels have for a row, so that its bits are its own.
 */
final class EntryGemm {
    private final TileKernels tiles;
    private final GemmKernels.Call vectors;
    private final AmxKernels.@Nullable Call amx;

    EntryGemm(MachineCode code, Compute compute) {
        tiles = code.tiles(compute);
        vectors = code.kernels(compute).call();
        amx = code.multipliesInTiles(compute) ? code.amx().map(AmxKernels::call).orElse(null) : null;
        if (amx != null) {
            amx.panel(tiles.panel());
        }
    }

    /**
     * Multiplies the entries {@code first} until {@code end}, rows of {@code columns} numbers in the precision, with so many
     * panels; outputs are rows of all panels' numbers, the first entry's first.
     */
    void multiply(
            MemorySegment entries,
            int columns,
            MemorySegment panels,
            int count,
            int first,
            int end,
            MemorySegment outputs) {
        long rowBytes = (long) columns * tiles.compute().bytes();
        long outputBytes = (long) count * Panel.OUTPUTS * Float.BYTES;
        int most = choose(columns, rowBytes, outputBytes);
        int passes = (end - first + most - 1) / most;
        for (int pass = 0; pass < passes; pass++) {
            int from = first + (end - first) * pass / passes;
            int rows = first + (end - first) * (pass + 1) / passes - from;
            long input = entries.address() + from * rowBytes;
            long output = outputs.address() + from * outputBytes;
            AmxKernels.Call inTiles = amx;
            if (inTiles == null) {
                vectors.multiply(input, rows, panels.address(), count, output);
            } else {
                inTiles.multiply(input, rows, panels.address(), count, output);
            }
        }
    }

    /** Tells the kernels the sizes; how many rows they take at once. */
    private int choose(int columns, long rowBytes, long outputBytes) {
        AmxKernels.Call inTiles = amx;
        if (inTiles == null) {
            vectors.weights(tiles.panel(), tiles.type(), columns);
            vectors.output(outputBytes);
            vectors.input(rowBytes);
            return GemmKernels.MAX_ROWS;
        }
        inTiles.distances(rowBytes, outputBytes, tiles.panel().bytes(columns));
        inTiles.depth(columns, false);
        return AmxKernels.MAX_ROWS;
    }
}
