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
 * The kernels of {@code chosen_experts.cu}: the experts of few rows in two launches that follow each other at once. They have the bits
 * of the grouped products, the gates and the sum.
 */
public final class ChosenExperts {
    private static final int SET = 256; // threads that share a choice
    private static final int SLICES = 8;
    private static final int HALF = 8; // rows of gates of a tile, or half those of the second product
    private static final int TILE = 2 * HALF;
    private static final int ALIGNMENT = 16;
    private static final int MULTIPLE = 32; // of columns

    private final Gpu device;
    private final Launcher launcher;
    private final DataType type;
    private final Kernel gated;
    private final Kernel combinedByTwo; // sets of threads
    private final Kernel combinedByFour;

    ChosenExperts(Gpu device, Kernels kernels, Launcher launcher, DataType type) {
        this.device = device;
        this.launcher = launcher;
        this.type = type;
        gated = kernels.kernel(KernelSource.CHOSEN_EXPERTS, "experts_gated_" + type.label());
        combinedByTwo = kernels.kernel(KernelSource.CHOSEN_EXPERTS, "experts_combined_2_" + type.label());
        combinedByFour = kernels.kernel(KernelSource.CHOSEN_EXPERTS, "experts_combined_4_" + type.label());
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
                && sharedBytes(first.columns(), 1) <= device.sharedMemory()
                && combinedBytes(second.columns(), chosen) <= device.sharedMemory();
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

    /** What a block needs for so many rows of inputs, and the sums of slices of as many choices. */
    private static int sharedBytes(int columns, int inputs) {
        int inputBytes = Launcher.cover((long) inputs * columns * Short.BYTES, ALIGNMENT) * ALIGNMENT;
        return inputBytes + inputs * SLICES * TILE * Float.BYTES;
    }

    /** The same for a sum of choices, with products and a factor of each, and two numbers for each output, and a gate. */
    private static int combinedBytes(int columns, int chosen) {
        return sharedBytes(columns, chosen) + (chosen * (TILE + 1) + 2 * TILE + 1) * Float.BYTES;
    }

    void feed(Rows input, ExpertProducts experts, Routing routing, ExpertSum sum, int rows) {
        var first = (CudaWeight) experts.gateAndUp().experts();
        var second = (CudaWeight) experts.down().experts();
        Rows gates = experts.gates();
        int chosen = routing.chosen();
        int size = second.columns();
        int columns = first.columns();
        launcher.of(gated)
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
                .shared(sharedBytes(columns, 1))
                .launch((long) Launcher.cover(size, HALF) * rows * chosen, 1, 1, SET);
        long blocks = (long) Launcher.cover(second.rows(), TILE) * rows;
        boolean areAlone = blocks <= device.multiprocessors(); // each with a multiprocessor of its own
        launcher.of(areAlone ? combinedByFour : combinedByTwo) // right behind: it begins before the gates are there
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
        launcher.rows(sum.output()).shared(combinedBytes(size, chosen)).launch(blocks, 1, 1, (areAlone ? 4 : 2) * SET);
    }

    private void rows(@Nullable Rows rows) {
        if (rows == null) {
            launcher.pointer(0).wide(0);
        } else {
            launcher.rows(rows);
        }
    }
}
