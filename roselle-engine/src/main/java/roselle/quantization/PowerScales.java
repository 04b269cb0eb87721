package roselle.quantization;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.util.Optional;
import roselle.api.CheckpointException;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/**
 * A matrix whose scales are powers of two (E8M0; OCP Microscaling Formats 1.0) in a tensor of its own, as DeepSeek V4 has
 * them: numbers of E4M3 with one for each block, or of E2M1, two in a byte, with one for each 32 of a row, which is MXFP4.
 *
 * @param shape of the matrix
 */
record PowerScales(String source, Tensor codes, Tensor scales, Shape shape) {
    static final String ENDING = ".scale";
    private static final int NO_NUMBER = 0xff;
    private static final int BIAS = 127;

    /** That of a module; empty where it has no such scales. */
    static Optional<PowerScales> find(String base, Shape shape, NamedTensors tensors) {
        return tensors.find(base + ENDING)
                .map(scales -> new PowerScales(
                        tensors.source(),
                        tensors.find(base + ".weight")
                                .orElseThrow(() -> new CheckpointException(tensors.source() + ": tensor " + base
                                        + ".weight is missing; the file is not complete")),
                        scales,
                        shape));
    }

    /** Whether a tensor has two numbers in a byte. */
    static boolean arePairs(Tensor tensor) {
        return tensor.type() == DataType.I8 && tensor.name().endsWith(".weight");
    }

    /** The matrix; blocks are those of numbers of E4M3. */
    StoredMatrix matrix(Copies copies, Group blocks) {
        if (arePairs(codes)) {
            int block = DataType.MXFP4.blockElements();
            if (shape.columns() % block != 0) {
                throw failure(codes, "rows of " + shape.columns() + " numbers, which is not a multiple of " + block);
            }
            require(codes, DataType.I8, Shape.of(shape.rows(), shape.columns() / 2));
            requireScales(new Group(1, block));
            return copies.joined(new SplitBlocks(codes.name(), shape, codes.data(), scales.data()));
        }
        require(codes, DataType.F8_E4M3, shape);
        requireScales(blocks);
        long columns = blocks.grid(shape).columns();
        Tensor numbers = copies.floats(
                scales.name(),
                blocks.grid(shape),
                (row, column) -> Math.scalb(1f, exponent(row * columns + column) - BIAS));
        return new StoredMatrix.Scaled(codes, new GroupScales(blocks, numbers, 0));
    }

    private void requireScales(Group group) {
        require(scales, DataType.U8, group.grid(shape));
        for (long i = 0; i < scales.data().byteSize(); i++) {
            if (exponent(i) == NO_NUMBER) {
                throw failure(scales, "the scale NaN at " + i + "; scales are positive and finite");
            }
        }
    }

    private int exponent(long index) {
        return Byte.toUnsignedInt(scales.data().get(JAVA_BYTE, index));
    }

    private void require(Tensor tensor, DataType type, Shape expected) {
        if (tensor.type() != type || !tensor.shape().equals(expected)) {
            throw failure(
                    tensor,
                    "shape " + tensor.shape() + " of " + tensor.type().label() + ", expected " + expected + " of "
                            + type.label());
        }
    }

    private CheckpointException failure(Tensor tensor, String what) {
        return new CheckpointException(source + ": tensor " + tensor.name() + " has " + what);
    }
}
