package roselle.cuda;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import roselle.backend.Epilogue;
import roselle.backend.Rows;
import roselle.tensor.DataType;
import roselle.tensor.Tensor;

/**
 * Products with weights as the checkpoint has them, on the tensor cores of any processor from Ampere on ({@code
 * linear_mma.cuh}): quantized ones, and 16-bit ones of the rows' own type. None of its kernels changes a bit.
 */
final class MmaLinear {
    private static final int FEW_ROWS = 8;
    private static final int SOME_ROWS = 48;
    private static final int SOME_TOKENS = 32;
    private static final int MANY_TOKENS = 64;
    private static final int FEW_OUTPUTS = 16;
    private static final int MANY_OUTPUTS = 128;

    private final Kernels kernels;
    private final Launcher launcher;
    private final DataType type;
    private final Map<DataType, Format> formats = new EnumMap<>(DataType.class);

    /** The kernels for one format of weights, and bytes of a row of a chunk in shared memory. */
    private record Format(Kernel few, Kernel some, Kernel many, int stride, int stages, int manyStages) {}

    MmaLinear(Kernels kernels, Launcher launcher, DataType type) {
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
        boolean isPlain = source == KernelSource.LINEAR_PLAIN;
        String suffix = "_" + (isPlain ? "plain" : weights.label()) + "_" + type.label();
        int stride = isPlain ? 128 : weights == DataType.Q5_K || weights == DataType.Q6_K ? 224 : 160;
        return new Format(
                kernels.kernel(source, "linear_few_8" + suffix),
                kernels.kernel(source, "linear_few_32" + suffix),
                kernels.kernel(source, "linear_many" + suffix),
                stride,
                isPlain ? 4 : 3,
                isPlain ? 3 : 2);
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
        Kernel few = rows <= FEW_ROWS ? format.few : format.some;
        long outputBytes = output.buffer().type().blockBytes();
        launcher.of(isMany ? format.many : few)
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
                .integer(block.rows())
                .integer(columns)
                .integer(KernelNumbers.of(epilogue.activation()))
                .number(epilogue.scale())
                .integer(LinearKernels.flags(epilogue, output));
        if (isMany) {
            launcher.shared(MANY_OUTPUTS * format.manyStages * format.stride + 24_576)
                    .launch(Launcher.cover(block.rows(), MANY_OUTPUTS), Launcher.cover(rows, MANY_TOKENS), 1, 128);
            return;
        }
        int tokens = rows <= FEW_ROWS ? FEW_ROWS : SOME_TOKENS;
        launcher.shared(128 * format.stages * format.stride)
                .launch(Launcher.cover(block.rows(), FEW_OUTPUTS), Launcher.cover(rows, tokens), 1, 256);
    }
}
