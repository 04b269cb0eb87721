package roselle.cuda.row;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Rows;
import roselle.backend.operation.Connection;
import roselle.backend.operation.Gate;
import roselle.backend.operation.Norm;
import roselle.backend.operation.Routing;
import roselle.backend.operation.Xielu;
import roselle.cuda.kernel.Kernel;
import roselle.cuda.kernel.KernelNumbers;
import roselle.cuda.kernel.KernelSource;
import roselle.cuda.kernel.Kernels;
import roselle.cuda.kernel.Launcher;
import roselle.cuda.memory.CudaBuffer;
import roselle.tensor.DataType;

/** Operations on rows between the products; on aligned 16-bit rows in kernels that read 16 bytes at a time. */
public final class RowKernels {
    public static final int FAST_THREADS = 128;
    public static final int FAST_COLUMNS = 1024; // of a block

    private static final int THREADS = 256;
    private static final int FAST_NORM_COLUMNS = 32_768;
    private static final int FAST_NORM_THREADS = 1024;
    private static final int WIDE_NORM_THREADS = 512; // with several times eight numbers each
    private static final int PART_COLUMNS = 256; // of a part that a warp normalises
    private static final int PARTS_OF_BLOCK = FAST_THREADS / Launcher.WARP;

    private final Launcher launcher;
    private final boolean is16Bit;
    private final Kernel norm;
    private final Kernel addNormed;
    private final Kernel gated;
    private final Kernel gather;
    private final Kernel order;
    private final Kernel addGated;
    private final Kernel combineExperts;
    private final Kernel scaleLogits;
    private final Kernel sparsify;
    private final Kernel xielu;
    private final Kernel connect;
    private final Kernel mix;
    private final Kernel addAsLongAs;
    private final Kernel toFloats;
    private final Kernel fastNorm;
    private final Kernel wideNorm;
    private final Kernel fastAddNormed;
    private final Kernel wideAddNormed;
    private final Kernel fastGated;
    private final @Nullable Kernel gateNormed; // null where rows are float32
    private final Kernel fastGather;

    public RowKernels(Kernels kernels, Launcher launcher, DataType type) {
        this.launcher = launcher;
        is16Bit = type != DataType.F32;
        KernelSource generic = KernelSource.GENERIC_ROWS;
        String suffix = "_" + type.label();
        norm = kernels.kernel(generic, "norm" + suffix);
        addNormed = kernels.kernel(generic, "add_normed" + suffix);
        gated = kernels.kernel(generic, "gated" + suffix);
        gather = kernels.kernel(generic, "gather" + suffix);
        order = kernels.kernel(generic, "order" + suffix);
        addGated = kernels.kernel(generic, "add_gated" + suffix);
        combineExperts = kernels.kernel(generic, "combine_experts" + suffix);
        scaleLogits = kernels.kernel(generic, "scale_logits" + suffix);
        sparsify = kernels.kernel(generic, "sparsify" + suffix);
        xielu = kernels.kernel(generic, "xielu" + suffix);
        connect = kernels.kernel(generic, "connect" + suffix);
        mix = kernels.kernel(generic, "mix" + suffix);
        addAsLongAs = kernels.kernel(generic, "add_as_long_as" + suffix);
        toFloats = kernels.kernel(generic, "to_floats" + suffix);
        KernelSource fast = KernelSource.ROWS;
        fastNorm = is16Bit ? kernels.kernel(fast, "norm" + suffix) : norm;
        wideNorm = is16Bit ? kernels.kernel(fast, "norm_wide" + suffix) : norm;
        fastAddNormed = is16Bit ? kernels.kernel(fast, "add_normed" + suffix) : addNormed;
        wideAddNormed = is16Bit ? kernels.kernel(fast, "add_normed_wide" + suffix) : addNormed;
        fastGated = is16Bit ? kernels.kernel(fast, "gated" + suffix) : gated;
        gateNormed = is16Bit ? kernels.kernel(fast, "gate_normed" + suffix) : null;
        fastGather = is16Bit ? kernels.kernel(fast, "gather") : gather;
    }

    public void norm(Rows input, Norm kind, Rows output, int rows) {
        normHeads(input, kind, output.columns(), output, rows);
    }

    /** Normalises each {@code size} numbers of a row by themselves. */
    public void normHeads(Rows input, Norm kind, int size, Rows output, int rows) {
        boolean fast = isFastNorm(input, output) && size % 8 == 0;
        normed(!fast ? norm : isWide(size) ? wideNorm : fastNorm, input, kind);
        launcher.rows(output)
                .integer(size)
                .launch(rows, output.columns() / size, 1, fast ? fastNormThreads(size) : THREADS);
    }

    public void addNormed(Rows input, Norm kind, float scale, Rows output, int rows) {
        boolean fast = isFastNorm(input, output);
        normed(!fast ? addNormed : isWide(output) ? wideAddNormed : fastAddNormed, input, kind);
        launcher.number(scale);
        launcher.rows(output).integer(output.columns()).launch(rows, 1, 1, normThreads(fast, output));
    }

    private boolean isFastNorm(Rows input, Rows output) {
        return is16Bit && isFastNorm(input) && CudaBuffer.isWhole(output);
    }

    /** Whether the kernels of {@code rows.cu} take rows of 16 bits that are to be normalised. */
    public static boolean isFastNorm(Rows input) {
        return CudaBuffer.isWhole(input) && input.columns() <= FAST_NORM_COLUMNS;
    }

    private void normed(Kernel kernel, Rows input, Norm kind) {
        launcher.of(kernel)
                .rows(input)
                .flag(kind.kind() == Norm.Kind.LAYER)
                .pointer(kind.weight())
                .number(kind.weightOffset())
                .pointer(kind.bias())
                .number(kind.epsilon());
    }

    /** Whether a thread has more than eight numbers of a row. */
    public static boolean isWide(Rows rows) {
        return isWide(rows.columns());
    }

    private static boolean isWide(int columns) {
        return columns > 8 * FAST_NORM_THREADS;
    }

    private static int normThreads(boolean fast, Rows output) {
        return fast ? fastNormThreads(output) : THREADS;
    }

    /** Threads of a block that normalises a row with the kernels of {@code rows.cu}. */
    public static int fastNormThreads(Rows rows) {
        return fastNormThreads(rows.columns());
    }

    private static int fastNormThreads(int columns) {
        return isWide(columns) ? WIDE_NORM_THREADS : Launcher.cover(columns, 256) * Launcher.WARP;
    }

    public void gate(Rows gate, Rows up, Gate kind, Rows output, int rows) {
        boolean fast = is16Bit && CudaBuffer.isWhole(gate) && CudaBuffer.isWhole(up) && CudaBuffer.isWhole(output);
        int step = fast ? Launcher.MAX_BLOCKS : rows;
        for (int first = 0; first < rows; first += step) {
            launcher.of(fast ? fastGated : gated)
                    .rows(gate.from(first))
                    .rows(up.from(first))
                    .integer(KernelNumbers.of(kind.activation()))
                    .number(kind.limit())
                    .number(kind.upLimit())
                    .number(kind.upOffset())
                    .rows(output.from(first))
                    .integer(output.columns());
            launchColumns(fast, output, Math.min(step, rows - first));
        }
    }

    /** Whether there is a kernel that normalises such parts and gates them at once. */
    public static boolean gatesNormed(Rows gate, Rows parts, Rows output) {
        return output.buffer().type() != DataType.F32
                && parts.columns() <= PART_COLUMNS
                && CudaBuffer.isWhole(parts)
                && CudaBuffer.isWhole(gate)
                && CudaBuffer.isWhole(output);
    }

    public void gateNormed(Rows gate, Rows parts, Norm norm, Gate kind, Rows output, int rows) {
        int partsOfRow = output.columns() / parts.columns();
        normed(Objects.requireNonNull(gateNormed), parts, norm);
        launcher.rows(gate)
                .integer(KernelNumbers.of(kind.activation()))
                .number(kind.limit())
                .number(kind.upLimit())
                .number(kind.upOffset())
                .rows(output)
                .integer(parts.columns())
                .integer(partsOfRow)
                .integer(rows)
                .launch(Launcher.cover((long) rows * partsOfRow, PARTS_OF_BLOCK), 1, 1, FAST_THREADS);
    }

    /** Copies the rows that an array of indices on the device names. */
    public void gather(Rows input, long index, Rows output, int rows) {
        boolean fast = is16Bit && CudaBuffer.isWhole(input) && CudaBuffer.isWhole(output);
        int step = fast ? Launcher.MAX_BLOCKS : rows;
        for (int first = 0; first < rows; first += step) {
            launcher.of(fast ? fastGather : gather)
                    .rows(input)
                    .pointer(index + (long) first * Integer.BYTES)
                    .rows(output.from(first))
                    .integer(output.columns());
            launchColumns(fast, output, Math.min(step, rows - first));
        }
    }

    /** Copies rows whose columns come in another order: an array on the device names the column for each place. */
    public void order(Rows input, long columns, Rows output, int rows) {
        launcher.of(order).rows(input).pointer(columns).rows(output).integer(output.columns());
        launchColumns(output, rows);
    }

    public void addGated(Rows input, Rows gate, float scale, Rows output, int rows) {
        launcher.of(addGated).rows(input).rows(gate).number(scale).rows(output).integer(output.columns());
        launchColumns(output, rows);
    }

    public void combineExperts(Rows input, Routing routing, float scale, boolean adds, Rows output, int rows) {
        launcher.of(combineExperts)
                .rows(input)
                .pointer(routing.weights())
                .integer(routing.chosen())
                .number(scale)
                .flag(adds)
                .rows(output)
                .integer(output.columns());
        launchColumns(output, rows);
    }

    public void sparsify(Rows gates, float deviations, int rows) {
        launcher.of(sparsify)
                .rows(gates)
                .number(deviations)
                .integer(gates.columns())
                .launch(rows, 1, 1, THREADS);
    }

    public void xielu(Rows numbers, Xielu kind, int rows) {
        launcher.of(xielu)
                .rows(numbers)
                .number(kind.positive())
                .number(kind.negative())
                .number(kind.slope())
                .number(kind.bound())
                .integer(numbers.columns());
        launchColumns(numbers, rows);
    }

    public void connect(Rows products, Connection connection, Rows coefficients, int rows) {
        Connection.Taken taken = connection.taken();
        launcher.of(connect)
                .rows(products)
                .integer(connection.streams())
                .integer(connection.rounds())
                .number(connection.epsilon())
                .flag(taken != null)
                .number(taken == null ? 0 : taken.magnitude())
                .number(taken == null ? 0 : taken.offset())
                .flag(connection.givenFirst())
                .rows(coefficients)
                .shared(connection.products() * Float.BYTES)
                .launch(rows, 1, 1, 32);
    }

    public void mix(Rows input, Rows coefficients, int width, Rows output, int rows) {
        launcher.of(mix)
                .rows(input)
                .rows(coefficients)
                .integer(input.columns() / width)
                .integer(width)
                .rows(output)
                .integer(output.columns());
        launchColumns(output, rows);
    }

    public void addAsLongAs(Rows input, Rows like, Rows output, int rows) {
        launcher.of(addAsLongAs)
                .rows(input)
                .rows(like)
                .rows(output)
                .integer(output.columns())
                .launch(rows, 1, 1, THREADS);
    }

    public void scaleLogits(Rows logits, float scale, float softCap, int rows) {
        launcher.of(scaleLogits).rows(logits).number(scale).number(softCap).integer(logits.columns());
        launchColumns(logits, rows);
    }

    public void toFloats(Rows source, int firstRow, long target, int rows) {
        launcher.of(toFloats)
                .pointer(row(source, firstRow))
                .wide(source.stride())
                .pointer(target)
                .wide(source.columns())
                .integer(source.columns());
        launchColumns(source, rows);
    }

    /** The address of the first number of a row of a view. */
    public static long row(Rows rows, int row) {
        return CudaBuffer.address(rows)
                + (long) row * rows.stride() * rows.buffer().type().blockBytes();
    }

    private void launchColumns(boolean fast, Rows output, int rows) {
        if (fast) {
            launcher.launch(Launcher.cover(output.columns(), FAST_COLUMNS), rows, 1, FAST_THREADS);
        } else {
            launchColumns(output, rows);
        }
    }

    private void launchColumns(Rows output, int rows) {
        launcher.launch(rows, Launcher.cover(output.columns(), THREADS), 1, THREADS);
    }
}
