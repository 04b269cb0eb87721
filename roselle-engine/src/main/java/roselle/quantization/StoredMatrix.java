package roselle.quantization;

import java.lang.foreign.ValueLayout;
import roselle.tensor.CodeValues;
import roselle.tensor.DataType;
import roselle.tensor.Dequantizer;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/** A matrix as its checkpoint stores it, read in place: the tensor that has its codes, with all that they need to be numbers. */
public sealed interface StoredMatrix {
    /** A matrix of one tensor, which has all of it: plain numbers, or blocks of codes and scales. */
    record Whole(Tensor codes) implements StoredMatrix {
        @Override
        public Dequantizer dequantizer() {
            return Dequantizer.of(codes.type());
        }

        @Override
        public long bytes() {
            return codes.data().byteSize();
        }

        @Override
        public StoredMatrix rows(long first, long count) {
            return new Whole(codes.rows(first, count));
        }
    }

    /**
     * A matrix of plain codes, whose scales lie in a second tensor.
     *
     * @param bits that tell the codes of a group from each other; fewer than the codes' own where they came from fewer
     */
    record Scaled(Tensor codes, GroupScales scales, int bits) implements StoredMatrix {
        public Scaled(Tensor codes, GroupScales scales) {
            this(codes, scales, codes.type().packing().bits());
        }

        public Scaled {
            if (codes.type().isQuantized()) {
                throw new IllegalArgumentException("blocks of " + codes.type().label() + " have scales of their own");
            }
        }

        @Override
        public Dequantizer dequantizer() {
            return scales.over(codes, Dequantizer.of(codes.type()));
        }

        @Override
        public long bytes() {
            return codes.data().byteSize() + scales.bytes(codes.shape());
        }

        @Override
        public StoredMatrix rows(long first, long count) {
            return new Scaled(codes.rows(first, count), scales.from(first), bits);
        }
    }

    /** A matrix of bytes that are places in a table, whose numbers are multiplied by scales of a second tensor. */
    record Tabled(Tensor codes, CodeValues values, GroupScales scales) implements StoredMatrix {
        public Tabled {
            if (codes.type() != DataType.I8) {
                throw new IllegalArgumentException(
                        "places in a table are bytes, not " + codes.type().label());
            }
        }

        @Override
        public Dequantizer dequantizer() {
            return scales.over(codes, (source, offset, target, start, elements) -> {
                for (int i = 0; i < elements; i++) {
                    target[start + i] = values.of(source.get(ValueLayout.JAVA_BYTE, offset + i));
                }
            });
        }

        @Override
        public long bytes() {
            return codes.data().byteSize() + scales.bytes(codes.shape());
        }

        @Override
        public StoredMatrix rows(long first, long count) {
            return new Tabled(codes.rows(first, count), values, scales.from(first));
        }
    }

    /** A matrix that is all in one tensor. */
    static StoredMatrix of(Tensor tensor) {
        return new Whole(tensor);
    }

    /** The tensor of the codes, whose rows are the matrix's. */
    Tensor codes();

    /** The way to floats from bytes of {@link #codes} on. */
    Dequantizer dequantizer();

    /** Bytes that the checkpoint has for it. */
    long bytes();

    /** Rows {@code first} until {@code first + count}, without a copy. */
    StoredMatrix rows(long first, long count);

    default String name() {
        return codes().name();
    }

    /** {@code [rows, columns]}. */
    default Shape shape() {
        return codes().shape();
    }

    /** All numbers of a matrix that fits an array. */
    default float[] numbers() {
        float[] numbers = new float[Math.toIntExact(shape().elements())];
        dequantizer().dequantize(codes().data(), 0, numbers, 0, numbers.length);
        return numbers;
    }
}
