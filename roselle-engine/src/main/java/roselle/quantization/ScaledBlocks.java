package roselle.quantization;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import roselle.tensor.DataType;
import roselle.tensor.Shape;

/**
 * A matrix whose scales lie in a second tensor, for devices whose products read one: its rows are written as blocks of a type
 * that has both, each block with the scale of its group. That takes a float32 number more for each block.
 */
public record ScaledBlocks(StoredMatrix.Scaled matrix) {
    private static final DataType TYPE = DataType.F8_E4M3_128;

    public ScaledBlocks {
        if (!fits(matrix)) {
            throw new IllegalArgumentException("tensor " + matrix.name() + " is not made of such blocks");
        }
    }

    /** The matrix as blocks; empty where there is no type of blocks for its codes, or a block would need two scales. */
    public static Optional<ScaledBlocks> of(StoredMatrix.Scaled matrix) {
        return fits(matrix) ? Optional.of(new ScaledBlocks(matrix)) : Optional.empty();
    }

    private static boolean fits(StoredMatrix.Scaled matrix) {
        long columns = matrix.shape().columns();
        long together = matrix.scales().group().columns();
        return matrix.codes().type() == DataType.F8_E4M3
                && columns % TYPE.blockElements() == 0
                && (together >= columns || together % TYPE.blockElements() == 0);
    }

    /** The type of the rows that are written. */
    public DataType type() {
        return TYPE;
    }

    public Shape shape() {
        return matrix.shape();
    }

    /** Bytes of a row. */
    public long rowBytes() {
        return TYPE.rowBytes(shape().columns());
    }

    /** Writes a row as blocks, each of them its scale and then its codes. */
    public void writeRow(long row, MemorySegment target, long at) {
        int numbers = TYPE.blockElements();
        long columns = shape().columns();
        long to = at;
        for (long column = 0; column < columns; column += numbers) {
            target.set(JAVA_FLOAT_UNALIGNED, to, matrix.scales().at(row, column));
            MemorySegment.copy(matrix.codes().data(), row * columns + column, target, to + Float.BYTES, numbers);
            to += TYPE.blockBytes();
        }
    }
}
