package roselle.cuda.gemm;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import roselle.backend.Epilogue;
import roselle.backend.Rows;
import roselle.cuda.kernel.Kernel;
import roselle.cuda.kernel.KernelNumbers;
import roselle.cuda.kernel.KernelSource;
import roselle.cuda.kernel.Kernels;
import roselle.cuda.kernel.Launcher;
import roselle.cuda.kernel.PackedTiles;
import roselle.cuda.memory.CudaBuffer;
import roselle.tensor.DataType;
import roselle.tensor.Tensor;

/**
 * Products with weights as the checkpoint has them, on the tensor cores of any processor from Ampere on ({@code
 * linear_mma.cuh}): quantized ones, and 16-bit ones of the rows' own type. None of its kernels changes a bit.
 */
public final class MmaLinear {
    /** Rows of a tile of each of a format's kernels. */
    static final int FEW_TOKENS = 8;

    static final int SOME_TOKENS = 32;
    public static final int MANY_TOKENS = 64;

    /** Outputs of a tile. */
    public static final int FEW_OUTPUTS = 16;

    public static final int MANY_OUTPUTS = 128;

    private static final int SOME_ROWS = 48;
    private static final int SLICES = 8;
    private static final int TOKEN_STAGES = 3;

    private final Kernels kernels;
    private final Launcher launcher;
    private final DataType type;
    private final Map<DataType, Format> formats = new EnumMap<>(DataType.class);

    private final Map<DataType, Format> groupedFormats = new EnumMap<>(DataType.class);
    private final Set<DataType> stacks = EnumSet.noneOf(DataType.class); // formats of stacks that were loaded

    /** The kernels for one format of weights, and their bytes of shared memory. */
    private record Format(Kernel few, Kernel some, Kernel many, int fewBytes, int manyBytes) {}

    public MmaLinear(Kernels kernels, Launcher launcher, DataType type) {
        this.kernels = kernels;
        this.launcher = launcher;
        this.type = type;
    }

    /** Whether it multiplies with all of these blocks. */
    boolean takes(List<Tensor> blocks) {
        return type != DataType.F32
                && blocks.stream().allMatch(block -> {
                    KernelSource source = source(block.type());
                    int multiple = source == KernelSource.LINEAR_PLAIN
                            ? 32
                            : Math.max(32, block.type().blockElements());
                    return source != null && block.shape().columns() % multiple == 0;
                });
    }

    /** Whether it multiplies with the matrices of a stack: all of one type, and loaded without gaps. */
    boolean takesStack(List<Tensor> blocks) {
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

    private Format grouped(DataType weights) {
        Format format = groupedFormats.get(weights);
        if (format == null) {
            KernelSource single = source(weights);
            if (single == null) {
                throw new IllegalArgumentException("there is no product with " + weights.label() + " experts");
            }
            format = format(weights, single.grouped(), "grouped");
            groupedFormats.put(weights, format);
        }
        return format;
    }

    private @Nullable KernelSource source(DataType weights) {
        return switch (weights) {
            case Q8_0 -> KernelSource.LINEAR_Q8_0;
            case Q4_0 -> KernelSource.LINEAR_Q4_0;
            case Q4_K -> KernelSource.LINEAR_Q4_K;
            case Q5_K -> KernelSource.LINEAR_Q5_K;
            case Q6_K -> KernelSource.LINEAR_Q6_K;
            case MXFP4 -> KernelSource.LINEAR_MXFP4;
            case F16, BF16 -> weights == type ? KernelSource.LINEAR_PLAIN : null;
            default -> null;
        };
    }

    /** Loads the kernels that some blocks need. */
    void reserve(List<Tensor> blocks) {
        for (Tensor block : blocks) {
            formats.computeIfAbsent(block.type(), this::format);
        }
    }

    private Format format(DataType weights) {
        KernelSource source = source(weights);
        if (source == null) {
            throw new IllegalArgumentException("there is no product with " + weights.label() + " weights");
        }
        return format(weights, source, "linear");
    }

    /** Bytes of a row of a chunk of a format in shared memory. */
    public static int stride(boolean isPlain, DataType weights) {
        return isPlain ? 128 : weights == DataType.Q5_K || weights == DataType.Q6_K ? 224 : 160;
    }

    /** Bytes of shared memory of a block that takes few rows. */
    public static int fewBytes(boolean isPlain, DataType weights) {
        int stages = isPlain ? 4 : 3;
        return SLICES * FEW_OUTPUTS * stages * stride(isPlain, weights);
    }

    /** Bytes of shared memory of a block that takes many rows. */
    public static int manyBytes(boolean isPlain, DataType weights) {
        int stages = isPlain ? 3 : 2;
        return MANY_OUTPUTS * stages * stride(isPlain, weights) + TOKEN_STAGES * MANY_TOKENS * PackedTiles.ROW_BYTES;
    }

    private Format format(DataType weights, KernelSource source, String kind) {
        boolean isPlain = weights == type;
        String suffix = "_" + (isPlain ? "plain" : weights.label()) + "_" + type.label();
        return new Format(
                kernels.kernel(source, kind + "_few_8" + suffix),
                kernels.kernel(source, kind + "_few_32" + suffix),
                kernels.kernel(source, kind + "_many" + suffix),
                fewBytes(isPlain, weights),
                manyBytes(isPlain, weights));
    }

    void multiply(Rows input, CudaWeight weight, Epilogue epilogue, Rows output, int rows) {
        for (CudaWeight.Block block : weight.parts()) {
            Format format = formats.get(block.type());
            if (format == null) {
                throw new IllegalStateException("weight " + weight.name() + " was loaded without its kernels");
            }
            multiply(format, block, input, weight.columns(), epilogue, output, rows);
        }
    }

    private void multiply(
            Format format, CudaWeight.Block block, Rows input, int columns, Epilogue epilogue, Rows output, int rows) {
        boolean isMany = rows > SOME_ROWS;
        Kernel few = rows <= FEW_TOKENS ? format.few : format.some;
        parameters(isMany ? format.many : few, block, block.rows(), input, columns, epilogue, output, rows);
        if (isMany) {
            launcher.shared(format.manyBytes)
                    .launch(Launcher.cover(block.rows(), MANY_OUTPUTS), Launcher.cover(rows, MANY_TOKENS), 1, 128);
            return;
        }
        int tokens = rows <= FEW_TOKENS ? FEW_TOKENS : SOME_TOKENS;
        launcher.shared(format.fewBytes)
                .launch(Launcher.cover(block.rows(), FEW_OUTPUTS), Launcher.cover(rows, tokens), 1, 256);
    }

    /** Products of a stack's matrices with the choices of some rows, of which {@code share} share a row of the input. */
    void multiplyGrouped(
            Rows input, CudaWeight weight, Epilogue epilogue, Rows output, ExpertGroups groups, int share) {
        CudaWeight.Block stack = weight.parts().getFirst();
        Format format = grouped(stack.type());
        boolean isMany = groups.tokens() == MANY_TOKENS;
        Kernel few = groups.tokens() == FEW_TOKENS ? format.few : format.some;
        parameters(isMany ? format.many : few, stack, weight.rows(), input, weight.columns(), epilogue, output, 0);
        launcher.pointer(groups.order()).pointer(groups.tiles()).integer(share);
        if (isMany) {
            launcher.shared(format.manyBytes)
                    .launch(groups.count(), Launcher.cover(weight.rows(), MANY_OUTPUTS), 1, 128);
        } else {
            launcher.shared(format.fewBytes).launch(groups.count(), Launcher.cover(weight.rows(), FEW_OUTPUTS), 1, 256);
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
