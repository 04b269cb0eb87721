package roselle.cuda.gemm;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import roselle.backend.memory.Rows;
import roselle.backend.operation.Epilogue;
import roselle.cuda.kernel.Kernel;
import roselle.cuda.kernel.KernelNumbers;
import roselle.cuda.kernel.KernelSource;
import roselle.cuda.kernel.Kernels;
import roselle.cuda.kernel.Launcher;
import roselle.cuda.kernel.TileFormat;
import roselle.cuda.memory.CudaBuffer;
import roselle.tensor.DataType;

/**
 * GEMMs with weights as the checkpoint has them, on the tensor cores of any processor from Ampere on ({@code
 * linear_mma.cuh}): quantized ones, and 16-bit ones of the rows' own type. None of its kernels changes a bit.
 */
public final class MmaLinear {
    /** Rows of a tile of each of a format's kernels. */
    static final int FEW_TOKENS = 8;

    static final int SOME_TOKENS = 32;

    private static final int SOME_ROWS = 48;

    private final Kernels kernels;
    private final Launcher launcher;
    private final DataType type;
    private final Map<DataType, Tiles> linear = new EnumMap<>(DataType.class);
    private final Map<DataType, Tiles> grouped = new EnumMap<>(DataType.class);
    private final Set<DataType> stacks = EnumSet.noneOf(DataType.class); // formats of stacks that were loaded

    /** The kernels for one format of weights. */
    private record Tiles(Kernel few, Kernel some, Kernel many, TileFormat format) {}

    public MmaLinear(Kernels kernels, Launcher launcher, DataType type) {
        this.kernels = kernels;
        this.launcher = launcher;
        this.type = type;
    }

    /** Whether it multiplies with all of these blocks. */
    boolean takes(List<WeightRows> blocks) {
        return blocks.stream()
                .allMatch(block -> TileFormat.of(block.type(), type)
                        .filter(format -> block.shape().columns() % format.multiple() == 0)
                        .isPresent());
    }

    /** Whether it multiplies with the matrices of a stack: all of one type, and loaded without gaps. */
    boolean takesStack(List<WeightRows> blocks) {
        DataType first = blocks.getFirst().type();
        return takes(blocks) && blocks.stream().allMatch(block -> block.type() == first);
    }

    /** A stack of a type was loaded, maybe one of experts. */
    void noteStack(DataType weights) {
        stacks.add(weights);
    }

    /** Loads the kernels for the experts among the stacks. */
    void reserveGrouped() {
        stacks.forEach(this::grouped);
    }

    private Tiles grouped(DataType weights) {
        Tiles tiles = grouped.get(weights);
        if (tiles == null) {
            TileFormat format = format(weights);
            tiles = tiles(format, format.grouped(), "grouped");
            grouped.put(weights, tiles);
        }
        return tiles;
    }

    private TileFormat format(DataType weights) {
        return TileFormat.of(weights, type)
                .orElseThrow(
                        () -> new IllegalArgumentException("there is no product with " + weights.label() + " weights"));
    }

    /** Loads the kernels that some blocks need. */
    void reserve(List<WeightRows> blocks) {
        for (WeightRows block : blocks) {
            linear.computeIfAbsent(block.type(), this::linear);
        }
    }

    private Tiles linear(DataType weights) {
        TileFormat format = format(weights);
        return tiles(format, format.linear(), "linear");
    }

    private Tiles tiles(TileFormat format, KernelSource source, String kind) {
        String suffix = "_" + format.label() + "_" + type.label();
        return new Tiles(
                kernels.kernel(source, kind + "_few_8" + suffix),
                kernels.kernel(source, kind + "_few_32" + suffix),
                kernels.kernel(source, kind + "_many" + suffix),
                format);
    }

    void multiply(Rows input, CudaWeight weight, Epilogue epilogue, Rows output, int rows) {
        for (CudaWeight.Block block : weight.parts()) {
            Tiles tiles = linear.get(block.type());
            if (tiles == null) {
                throw new IllegalStateException("weight " + weight.name() + " was loaded without its kernels");
            }
            multiply(tiles, block, input, weight.columns(), epilogue, output, rows);
        }
    }

    private void multiply(
            Tiles tiles, CudaWeight.Block block, Rows input, int columns, Epilogue epilogue, Rows output, int rows) {
        boolean isMany = rows > SOME_ROWS;
        Kernel few = rows <= FEW_TOKENS ? tiles.few : tiles.some;
        parameters(isMany ? tiles.many : few, block, block.rows(), input, columns, epilogue, output, rows);
        if (isMany) {
            launcher.shared(tiles.format.manyBytes())
                    .launch(
                            Launcher.cover(block.rows(), TileFormat.MANY_OUTPUTS),
                            Launcher.cover(rows, TileFormat.MANY_TOKENS),
                            1,
                            128);
            return;
        }
        int tokens = rows <= FEW_TOKENS ? FEW_TOKENS : SOME_TOKENS;
        launcher.shared(tiles.format.fewBytes())
                .launch(Launcher.cover(block.rows(), TileFormat.FEW_OUTPUTS), Launcher.cover(rows, tokens), 1, 256);
    }

    /** GEMMs of a stack's matrices with the choices of some rows, of which {@code share} share a row of the input. */
    void multiplyGrouped(
            Rows input, CudaWeight weight, Epilogue epilogue, Rows output, ExpertGroups groups, int share) {
        CudaWeight.Block stack = weight.parts().getFirst();
        Tiles tiles = grouped(stack.type());
        boolean isMany = groups.tokens() == TileFormat.MANY_TOKENS;
        Kernel few = groups.tokens() == FEW_TOKENS ? tiles.few : tiles.some;
        parameters(isMany ? tiles.many : few, stack, weight.rows(), input, weight.columns(), epilogue, output, 0);
        launcher.pointer(groups.order()).pointer(groups.tiles()).integer(share);
        if (isMany) {
            launcher.shared(tiles.format.manyBytes())
                    .launch(groups.count(), Launcher.cover(weight.rows(), TileFormat.MANY_OUTPUTS), 1, 128);
        } else {
            launcher.shared(tiles.format.fewBytes())
                    .launch(groups.count(), Launcher.cover(weight.rows(), TileFormat.FEW_OUTPUTS), 1, 256);
        }
    }

    private void parameters(
            Kernel kernel,
            CudaWeight.Block block,
            int outputs,
            Rows input,
            int columns,
            Epilogue epilogue,
            Rows output,
            int rows) {
        long outputBytes = output.buffer().type().blockBytes();
        launcher.of(kernel)
                .pointer(block.address())
                .wide(block.rowBytes())
                .rows(input)
                .pointer(
                        epilogue.bias() == null
                                ? 0
                                : CudaBuffer.address(epilogue.bias()) + (long) block.firstRow() * Float.BYTES)
                .pointer(CudaBuffer.address(output) + block.firstRow() * outputBytes)
                .wide(output.stride())
                .integer(rows)
                .integer(outputs)
                .integer(columns)
                .integer(KernelNumbers.of(epilogue.activation()))
                .number(epilogue.scale())
                .integer(LinearKernels.flags(epilogue, output));
    }
}
