package roselle.cpu.path;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import roselle.cpu.machine.Compute;
import roselle.cpu.machine.InstructionSet;
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

    private final GemmKernels kernels;
    private final GemmKernels.Call call;
    private final MemorySegment weights;
    private final MemorySegment input;
    private final MemorySegment output;

    private SmallProduct(GemmKernels kernels, Panel panel, DataType type, Arena arena) {
        this.kernels = kernels;
        weights = arena.allocate(PANELS * panel.bytes(COLUMNS), 64);
        input = arena.allocate(GemmKernels.MAX_ROWS * kernels.rowBytes(COLUMNS), 64);
        long rowBytes = (long) PANELS * Panel.OUTPUTS * Float.BYTES;
        output = arena.allocate(GemmKernels.MAX_ROWS * rowBytes, 64);
        call = kernels.call();
        call.weights(panel, type, COLUMNS);
        call.output(rowBytes);
    }

    /** Writes a contender's code for weights of a type; empty where the system refuses executable memory. */
    static Optional<SmallProduct> open(Contender contender, DataType type, Arena arena) {
        Compute compute = contender.compute();
        InstructionSet set = contender.path() == CpuPath.AVX2 ? InstructionSet.AVX2 : InstructionSet.AVX512;
        Panel panel = Panel.of(type, compute).orElseThrow();
        return GemmKernels.openSample(compute, set, panel)
                .map(kernels -> new SmallProduct(kernels, panel, type, arena));
    }

    @Override
    public long prompt() {
        return multiply(GemmKernels.MAX_ROWS);
    }

    @Override
    public long decode() {
        return multiply(1);
    }

    private long multiply(int rows) {
        call.multiply(input.address(), rows, weights.address(), PANELS, output.address());
        return (long) rows * PANELS * Panel.OUTPUTS * COLUMNS;
    }

    @Override
    public void close() {
        kernels.close();
    }
}
