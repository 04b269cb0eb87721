package roselle.quantization;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import roselle.tensor.DataType;
import roselle.tensor.Shape;

/**
 * A matrix whose scales lie in a second tensor, for devices whose products read one: its rows are written as blocks of a type
 * that has both, each block with the scale of its group. That takes a float32 number more for each block, and one more where
 * codes have 4 bits: the zero that is taken from them.
 *
 * @param type of the rows that are written
 * @param order in which columns are written, where neighbours need not share a scale (GPTQ's act-order); null where they do
 */
public record ScaledBlocks(
        StoredMatrix.Scaled matrix, DataType type, @Nullable ColumnOrder order) {
    private static final int FOUR_BITS = 4;

    public ScaledBlocks {
        if (!types(matrix).contains(type) || !fits(matrix, type)) {
            throw new IllegalArgumentException("tensor " + matrix.name() + " is not made of blocks of " + type.label());
        }
        if ((order == null) != (matrix.scales().order() == null)) {
            throw new IllegalArgumentException("tensor " + matrix.name() + " has columns of another order");
        }
    }

    /** One whose neighbouring columns share a scale. */
    public ScaledBlocks(StoredMatrix.Scaled matrix, DataType type) {
        this(matrix, type, null);
    }

    /** The matrix as blocks; empty where there is no type of blocks for its codes, or a block would need two scales. */
    public static Optional<ScaledBlocks> of(StoredMatrix.Scaled matrix) {
        Optional<DataType> type =
                types(matrix).stream().filter(one -> fits(matrix, one)).findFirst();
        if (matrix.scales().order() == null) {
            return type.map(one -> new ScaledBlocks(matrix, one));
        }
        return type.flatMap(one -> ColumnOrder.of(
                        matrix.scales(), Math.toIntExact(matrix.shape().columns()))
                .map(order -> new ScaledBlocks(matrix, one, order)));
    }

    /** What blocks of such codes there are, the longest first. */
    private static List<DataType> types(StoredMatrix.Scaled matrix) {
        return switch (matrix.codes().type()) {
            case F8_E4M3 -> List.of(DataType.F8_E4M3_128);
            case I8 ->
                matrix.bits() > FOUR_BITS
                        ? List.of(DataType.I8_128, DataType.I8_32)
                        : List.of(DataType.I4_128, DataType.I4_32);
            default -> List.of();
        };
    }

    private static boolean fits(StoredMatrix.Scaled matrix, DataType type) {
        long columns = matrix.shape().columns();
        long together = matrix.scales().group().columns();
        int block = type.blockElements();
        return columns % block == 0 && (together >= columns || together % block == 0);
    }

    public Shape shape() {
        return matrix.shape();
    }

    /** Bytes of a row. */
    public long rowBytes() {
        return type.rowBytes(shape().columns());
    }

    /** Writes a row as blocks, each of them its scale and then its codes. */
    public void writeRow(long row, MemorySegment target, long at) {
        int numbers = type.blockElements();
        int columns = Math.toIntExact(shape().columns());
        MemorySegment codes = matrix.codes().data();
        long first = row * columns;
        long to = at;
        for (int place = 0; place < columns; place += numbers) {
            target.set(JAVA_FLOAT_UNALIGNED, to, matrix.scales().at(row, column(place)));
            if (type.packing().bits() == FOUR_BITS) {
                writeFourBits(codes, first, place, target, to + Float.BYTES);
            } else if (order == null) {
                MemorySegment.copy(codes, first + place, target, to + Float.BYTES, numbers);
            } else {
                for (int i = 0; i < numbers; i++) {
                    target.set(JAVA_BYTE, to + Float.BYTES + i, codes.get(JAVA_BYTE, first + column(place + i)));
                }
            }
            to += type.blockBytes();
        }
    }

    private int column(int place) {
        return order == null ? place : order.at(place);
    }

    /** A zero, then the codes of 32 numbers in 16 bytes, the first half lowest. What is least of the block gets the code 0. */
    private void writeFourBits(MemorySegment codes, long row, int place, MemorySegment target, long at) {
        int least = Byte.MAX_VALUE;
        for (int i = 0; i < type.blockElements(); i++) {
            least = Math.min(least, codes.get(JAVA_BYTE, row + column(place + i)));
        }
        target.set(JAVA_FLOAT_UNALIGNED, at, -least);
        long to = at + Float.BYTES;
        for (int first = place; first < place + type.blockElements(); first += 32) {
            for (int i = first; i < first + 16; i++) {
                int low = codes.get(JAVA_BYTE, row + column(i)) - least;
                int high = codes.get(JAVA_BYTE, row + column(i + 16)) - least;
                if ((low | high) > 15) {
                    throw new IllegalStateException("tensor " + matrix.name() + " has codes of more than 4 bits");
                }
                target.set(JAVA_BYTE, to++, (byte) (low | high << FOUR_BITS));
            }
        }
    }
}
