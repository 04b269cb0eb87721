package roselle.quantization;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import java.util.Optional;
import org.jspecify.annotations.Nullable;
import roselle.api.CheckpointException;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/**
 * Binds a matrix of whole numbers to its scales and zeros, {@code number = scale * (code - zero)}, and refuses what does not fit
 * together. Codes less their zeros become bytes, or bfloat16 where those are too few, so that devices need not know the bits and the
 * order in the file.
 *
 * @param base the module's name
 * @param shape of the matrix
 * @param columns that share a scale and a zero
 */
record IntegerGroups(NamedTensors tensors, String base, Shape shape, Group columns) {
    /** A small whole number of the file. */
    @FunctionalInterface
    interface Stored {
        int at(long row, long column);
    }

    /** {@code [rows, groups]}. */
    Shape grid() {
        return columns.grid(shape);
    }

    Tensor required(String ending, DataType type, Shape expected) {
        return optional(ending, type, expected)
                .orElseThrow(() -> failure(base + ending, "is missing; the file is not complete"));
    }

    Optional<Tensor> optional(String ending, DataType type, Shape expected) {
        Optional<Tensor> tensor = tensors.find(base + ending);
        tensor.ifPresent(found -> {
            if (found.type() != type || !found.shape().equals(expected)) {
                throw failure(
                        found.name(),
                        "has shape " + found.shape() + " of " + found.type().label() + ", expected " + expected + " of "
                                + type.label());
            }
        });
        return tensor;
    }

    /** Scales of a shape, each a positive number. */
    Tensor scales(String ending, Shape expected) {
        Tensor scales = tensors.find(base + ending)
                .orElseThrow(() -> failure(base + ending, "is missing; the file is not complete"));
        Scheme.requireScales(tensors.source(), scales, expected, columns + " of " + shape);
        return scales;
    }

    /** Scales of a shape that stand for those of a grid. */
    Tensor scales(String ending, Shape expected, Shape grid) {
        Tensor scales = scales(ending, expected);
        return new Tensor(scales.name(), scales.type(), grid, scales.data());
    }

    /** A positive number that stands alone. */
    Tensor alone(String ending) {
        Tensor one = tensors.find(base + ending)
                .orElseThrow(() -> failure(base + ending, "is missing; the file is not complete"));
        Shape shape = one.shape().elements() == 1 ? one.shape() : Shape.of(1);
        Scheme.requireScales(tensors.source(), one, shape, shape().toString());
        return one;
    }

    /** Which group a column is of; null where columns follow each other, as their groups do. */
    @Nullable
    Tensor order(String ending) {
        Optional<Tensor> order = optional(ending, DataType.I32, Shape.of(shape.columns()));
        if (order.isEmpty()) {
            return null;
        }
        long groups = grid().columns();
        boolean isPlain = true;
        for (long column = 0; column < shape.columns(); column++) {
            int group = order.get().data().get(JAVA_INT_UNALIGNED, column * Integer.BYTES);
            if (group < 0 || group >= groups) {
                throw failure(base + ending, "has the group " + group + " at " + column + ", but there are " + groups);
            }
            isPlain &= group == column / columns.columns();
        }
        return isPlain ? null : order.get();
    }

    /** The matrix as bytes, or where its zeros are too far off for bytes as bfloat16. */
    StoredMatrix bind(int bits, Stored codes, Stored zeros, GroupScales scales, Copies copies) {
        Copies.Integers numbers = (row, column) -> codes.at(row, column) - zeros.at(row, scales.beside(column));
        String name = base + ".weight";
        return areBytes(bits, zeros)
                ? new StoredMatrix.Scaled(copies.bytes(name, shape, numbers), scales, bits)
                : new StoredMatrix.Scaled(copies.bfloats(name, shape, numbers), scales);
    }

    private boolean areBytes(int bits, Stored zeros) {
        int most = (1 << bits) - 1;
        long groups = grid().columns();
        for (long row = 0; row < shape.rows(); row++) {
            for (long group = 0; group < groups; group++) {
                int zero = zeros.at(row, group);
                if (most - zero > Byte.MAX_VALUE || zero > -Byte.MIN_VALUE) {
                    return false;
                }
            }
        }
        return true;
    }

    CheckpointException failure(String name, String problem) {
        return new CheckpointException(tensors.source() + ": tensor " + name + " " + problem);
    }
}
