package roselle.cuda.gemm;

import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Rows;
import roselle.backend.operation.Activation;
import roselle.backend.operation.Epilogue;
import roselle.backend.operation.ExpertLinear;
import roselle.backend.operation.ExpertProducts;
import roselle.backend.operation.ExpertSum;
import roselle.backend.operation.Routing;
import roselle.cuda.kernel.Kernel;
import roselle.cuda.kernel.KernelNumbers;
import roselle.cuda.kernel.KernelSource;
import roselle.cuda.kernel.Kernels;
import roselle.cuda.kernel.Launcher;
import roselle.cuda.memory.CudaBuffer;
import roselle.cuda.memory.Gpu;
import roselle.tensor.DataType;

/**
 * The kernels of {@code chosen_experts.cu}: all experts of a row in one block, few rows, in two launches that follow each other at
 * once. They have the bits of the grouped products, the gates and the sum.
 */
public final class ChosenExperts {
    private static final int SET = 256; // threads that share a choice
    private static final int FEW_SETS = 2;
    private static final int MANY_SETS = 4;
    private static final int SLICES = 8;
    private static final int HALF = 8; // rows of gates of a tile, or half those of the second product
    private static final int ALIGNMENT = 16;
    private static final int MULTIPLE = 32; // of columns

    private final Gpu device;
    private final Launcher launcher;
    private final DataType type;
    private final Kernel[] gated; // with few sets, with many
    private final Kernel[] combined;

    ChosenExperts(Gpu device, Kernels kernels, Launcher launcher, DataType type) {
        this.device = device;
        this.launcher = launcher;
        this.type = type;
        gated = both(kernels, "gated");
        combined = both(kernels, "combined");
    }

    private Kernel[] both(Kernels kernels, String name) {
        return new Kernel[] {kernel(kernels, name, FEW_SETS), kernel(kernels, name, MANY_SETS)};
    }

    private Kernel kernel(Kernels kernels, String name, int sets) {
        return kernels.kernel(KernelSource.CHOSEN_EXPERTS, "experts_" + name + "_" + sets + "_" + type.label());
    }

    /** Whether they are for such experts, and so few rows that hardly any expert has several of them. */
    boolean fits(Rows input, ExpertProducts experts, Routing routing, ExpertSum sum, int rows) {
        var first = (CudaWeight) experts.gateAndUp().experts();
        var second = (CudaWeight) experts.down().experts();
        Rows gates = experts.gates();
        int chosen = routing.chosen();
        return experts.ups() != null
                && !experts.gate().hasTwoBounds()
                && ExpertGroups.areFew(rows, chosen, first.matrices())
                && chosen <= Launcher.WARP
                && isPlain(experts.gateAndUp())
                && isPlain(experts.down())
                && !experts.gateAndUp().spread()
                && experts.down().spread()
                && first.rows() == 2 * second.columns()
                && gates.columns() == second.columns()
                && CudaBuffer.isAligned(input)
                && CudaBuffer.isAligned(gates)
                && sum.output().buffer().type() == type
                && fitsShared(FEW_SETS, first.columns(), 1, chosen)
                && fitsShared(FEW_SETS, second.columns(), chosen, chosen);
    }

    /** Numbers of the rows' own type, one matrix behind the other, and products that are stored as they are. */
    private boolean isPlain(ExpertLinear product) {
        var weight = (CudaWeight) product.experts();
        if (!weight.usesTensorCores() || weight.matrices() == 1 || weight.columns() % MULTIPLE != 0) {
            return false;
        }
        CudaWeight.Block stack = weight.parts().getFirst();
        Epilogue epilogue = product.epilogue();
        return stack.type() == type
                && stack.address() % ALIGNMENT == 0
                && stack.rowBytes() == (long) weight.columns() * Short.BYTES
                && epilogue.bias() == null
                && epilogue.activation() == Activation.NONE
                && epilogue.scale() == 1f
                && !epilogue.accumulates();
    }

    /** What the rings of all warps of a block take. */
    private static int ringBytes(int sets) {
        return sets == MANY_SETS ? 196_608 : 98_304;
    }

    /** What a block needs, for inputs of one row or of each choice. */
    private static int sharedBytes(int sets, int columns, int inputs, int chosen) {
        int inputBytes = Launcher.cover((long) inputs * columns * Short.BYTES, ALIGNMENT) * ALIGNMENT;
        int sums = (SLICES + 1) * 2 * HALF + 1;
        return ringBytes(sets) + inputBytes + chosen * sums * Float.BYTES;
    }

    private boolean fitsShared(int sets, int columns, int inputs, int chosen) {
        return sharedBytes(sets, columns, inputs, chosen) <= device.sharedMemory();
    }

    void feed(Rows input, ExpertProducts experts, Routing routing, ExpertSum sum, int rows) {
        var first = (CudaWeight) experts.gateAndUp().experts();
        var second = (CudaWeight) experts.down().experts();
        Rows gates = experts.gates();
        int chosen = routing.chosen();
        int size = second.columns();
        int columns = first.columns();
        boolean manyGates = fitsShared(MANY_SETS, columns, 1, chosen);
        launcher.of(gated[manyGates ? 1 : 0])
                .pointer(first.parts().getFirst().address())
                .rows(input)
                .pointer(routing.experts())
                .integer(chosen)
                .integer(rows)
                .integer(size)
                .integer(columns)
                .integer(KernelNumbers.of(experts.gate().activation()))
                .number(experts.gate().limit())
                .number(experts.gate().upOffset())
                .rows(gates)
                .shared(sharedBytes(sets(manyGates), columns, 1, chosen))
                .launch((long) Launcher.cover(size, HALF) * rows, 1, 1, SET * sets(manyGates));
        long blocks = (long) Launcher.cover(second.rows(), 2 * HALF) * rows;
        // with many sets a multiprocessor has one block
        boolean manyOutputs = blocks <= device.multiprocessors() && fitsShared(MANY_SETS, size, chosen, chosen);
        launcher.of(combined[manyOutputs ? 1 : 0]) // right behind: it begins before the gates are there
                .pointer(second.parts().getFirst().address())
                .rows(gates)
                .pointer(routing.experts())
                .pointer(routing.weights())
                .integer(chosen)
                .integer(rows)
                .integer(second.rows())
                .integer(size)
                .number(sum.scale())
                .flag(sum.adds());
        rows(sum.shared());
        rows(sum.sharedGate());
        launcher.rows(sum.output())
                .shared(sharedBytes(sets(manyOutputs), size, chosen, chosen))
                .launch(blocks, 1, 1, SET * sets(manyOutputs));
    }

    private static int sets(boolean many) {
        return many ? MANY_SETS : FEW_SETS;
    }

    private void rows(@Nullable Rows rows) {
        if (rows == null) {
            launcher.pointer(0).wide(0);
        } else {
            launcher.rows(rows);
        }
    }
}
