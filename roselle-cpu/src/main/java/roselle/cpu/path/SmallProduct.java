package roselle.cpu.path;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import roselle.cpu.machine.Compute;
import roselle.cpu.machine.InstructionSet;
import roselle.cpu.machine.amx.AmxKernels;
import roselle.cpu.machine.gemm.GemmKernels;
import roselle.cpu.machine.panel.Panel;
import roselle.cpu.option.CpuPath;
import roselle.tensor.DataType;

/**
 * A path's code for one format, with a small matrix of zeros: time does not depend on numbers. One thread multiplies, whose
 * matrix stays in its second cache, so that instructions are measured and not memory, which all paths share.
 */
final class SmallProduct implements PathMeter.Product, AutoCloseable {
    private static final int COLUMNS = 1024;

    private static final int PANELS = 24;
    private static final long OUTPUT_BYTES = (long) PANELS * Panel.OUTPUTS * Float.BYTES;

    /** Code that multiplies rows at an address with all panels at another. */
    private interface Multiplication {
        void run(long input, int rows, long weights, long output);
    }

    private final Runnable closing;
    private final Multiplication multiplication;
    private final int mostRows;
    private final MemorySegment weights;
    private final MemorySegment input;
    private final MemorySegment output;

    private SmallProduct(
            Runnable closing,
            Multiplication multiplication,
            int mostRows,
            long rowBytes,
            long panelBytes,
            Arena arena) {
        this.closing = closing;
        this.multiplication = multiplication;
        this.mostRows = mostRows;
        weights = arena.allocate(PANELS * panelBytes, 64);
        input = arena.allocate(mostRows * rowBytes, 64);
        output = arena.allocate(mostRows * OUTPUT_BYTES, 64);
    }

    /** Writes a contender's code for weights of a type; empty where the system refuses executable memory. */
    static Optional<SmallProduct> open(Contender contender, DataType type, Arena arena) {
        Compute compute = contender.compute();
        if (compute == Compute.SPLIT) {
            return AmxKernels.open().map(kernels -> ofTiles(kernels, arena));
        }
        InstructionSet set = contender.path() == CpuPath.AVX2 ? InstructionSet.AVX2 : InstructionSet.AVX512;
        Panel panel = Panel.of(type, compute).orElseThrow();
        return GemmKernels.openSample(compute, set, panel).map(kernels -> ofVectors(kernels, panel, type, arena));
    }

    private static SmallProduct ofVectors(GemmKernels kernels, Panel panel, DataType type, Arena arena) {
        GemmKernels.Call call = kernels.call();
        call.weights(panel, type, COLUMNS);
        call.output(OUTPUT_BYTES);
        return new SmallProduct(
                kernels::close,
                (input, rows, weights, output) -> call.multiply(input, rows, weights, PANELS, output),
                GemmKernels.MAX_ROWS,
                kernels.rowBytes(COLUMNS),
                panel.bytes(COLUMNS),
                arena);
    }

    private static SmallProduct ofTiles(AmxKernels kernels, Arena arena) {
        AmxKernels.Call call = kernels.call();
        long rowBytes = (long) COLUMNS * Compute.SPLIT.bytes();
        long panelBytes = Panel.SPLIT.bytes(COLUMNS);
        call.panel(Panel.SPLIT);
        call.distances(rowBytes, OUTPUT_BYTES, panelBytes);
        call.depth(COLUMNS, false);
        return new SmallProduct(
                kernels::close,
                (input, rows, weights, output) -> call.multiply(input, rows, weights, PANELS, output),
                AmxKernels.MAX_ROWS,
                rowBytes,
                panelBytes,
                arena);
    }

    @Override
    public long prompt() {
        return multiply(mostRows);
    }

    @Override
    public long decode() {
        return multiply(1);
    }

    private long multiply(int rows) {
        multiplication.run(input.address(), rows, weights.address(), output.address());
        return (long) rows * PANELS * Panel.OUTPUTS * COLUMNS;
    }

    @Override
    public void close() {
        closing.run();
    }
}
