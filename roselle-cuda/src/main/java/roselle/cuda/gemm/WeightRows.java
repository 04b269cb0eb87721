package roselle.cuda.gemm;

import java.lang.foreign.MemorySegment;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import roselle.api.DeviceException;
import roselle.cuda.kernel.KernelNumbers;
import roselle.quantization.ColumnOrder;
import roselle.quantization.GroupScales;
import roselle.quantization.ScaledBlocks;
import roselle.quantization.StoredMatrix;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/** Rows of a weight as they go to a device: those of a tensor, or blocks made of codes and scales that lie apart. */
public sealed interface WeightRows {
    /** As a checkpoint has them. */
    record Stored(Tensor tensor) implements WeightRows {
        @Override
        public DataType type() {
            return tensor.type();
        }

        @Override
        public @Nullable ColumnOrder order() {
            return null;
        }

        @Override
        public String name() {
            return tensor.name();
        }

        @Override
        public Shape shape() {
            return tensor.shape();
        }

        @Override
        public long bytes() {
            return tensor.data().byteSize();
        }

        @Override
        public void copy(long from, MemorySegment target, long bytes) {
            MemorySegment.copy(tensor.data(), from, target, 0, bytes);
        }

        @Override
        public long atOnce(long most) {
            return most;
        }
    }

    /** Put together row by row. */
    record Joined(ScaledBlocks blocks) implements WeightRows {
        @Override
        public DataType type() {
            return blocks.type();
        }

        @Override
        public @Nullable ColumnOrder order() {
            return blocks.order();
        }

        @Override
        public String name() {
            return blocks.matrix().name();
        }

        @Override
        public Shape shape() {
            return blocks.shape();
        }

        @Override
        public long bytes() {
            return shape().rows() * blocks.rowBytes();
        }

        @Override
        public void copy(long from, MemorySegment target, long bytes) {
            long rowBytes = blocks.rowBytes();
            long first = from / rowBytes;
            LongStream.range(0, bytes / rowBytes)
                    .parallel()
                    .forEach(row -> blocks.writeRow(first + row, target, row * rowBytes));
        }

        @Override
        public long atOnce(long most) {
            if (blocks.rowBytes() > most) {
                throw new IllegalArgumentException("a matrix of " + shape().columns() + " columns is too wide");
            }
            return most / blocks.rowBytes() * blocks.rowBytes();
        }
    }

    /**
     * Rows of a matrix.
     *
     * @throws DeviceException where no kernel reads it
     */
    static WeightRows of(StoredMatrix matrix) {
        return switch (matrix) {
            case StoredMatrix.Whole whole -> stored(whole.codes());
            case StoredMatrix.Scaled scaled ->
                new Joined(ScaledBlocks.of(scaled).orElseThrow(() -> unread(matrix, scaled.scales())));
            case StoredMatrix.Tabled tabled -> throw unread(matrix, tabled.scales());
        };
    }

    private static DeviceException unread(StoredMatrix matrix, GroupScales scales) {
        return new DeviceException("tensor " + matrix.name() + " has a scale for each " + scales.group() + " of its "
                + matrix.shape()
                + " numbers, which no kernel reads: take another file of the model, or the device cpu");
    }

    private static WeightRows stored(Tensor tensor) {
        if (!KernelNumbers.isRead(tensor.type())) {
            throw new DeviceException("tensor " + tensor.name() + " is "
                    + tensor.type().label()
                    + ", which no kernel reads: take another file of the model, or the device cpu");
        }
        return new Stored(tensor);
    }

    DataType type();

    /** The order in which a row's columns are written; null where it is the matrix's own. */
    @Nullable
    ColumnOrder order();

    /** Of the tensor that has the numbers or codes. */
    String name();

    /** {@code [rows, columns]}. */
    Shape shape();

    /** Bytes of all rows. */
    long bytes();

    /** Writes bytes of the rows, from a place on that {@link #atOnce} can come to. */
    void copy(long from, MemorySegment target, long bytes);

    /** Bytes that can be copied at once, where there is room for {@code most}. */
    long atOnce(long most);
}
