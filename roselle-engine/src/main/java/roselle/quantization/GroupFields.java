package roselle.quantization;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.util.Set;
import java.util.TreeSet;
import roselle.checkpoint.summary.ModelSummary.TypeUse;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/**
 * What configurations say of whole numbers in words.
 *
 * @param bits of a code
 * @param size columns that share a scale; -1 for all of a row
 */
record GroupFields(int bits, int size) {
    static GroupFields of(MethodFields fields, Set<Integer> supported) {
        int bits = fields.config().integer("bits");
        if (!supported.contains(bits)) {
            throw fields.unsupported("bits", Integer.toString(bits), new TreeSet<>(supported) + "");
        }
        int size = fields.config().integer("group_size");
        if (size != -1 && size < 1) {
            throw fields.unsupported("group_size", Integer.toString(size), "a number of columns, or -1");
        }
        return new GroupFields(bits, size);
    }

    Group of(Shape shape) {
        return new Group(1, size < 0 ? shape.columns() : size);
    }

    String describe() {
        return bits + " bits with a scale for each " + (size < 0 ? "row" : "1×" + size);
    }

    /** How a tensor counts: words of codes as the numbers that they have. */
    TypeUse use(Tensor tensor, String codes, boolean isBeside) {
        long bytes = tensor.data().byteSize();
        if (tensor.type() == DataType.I32 && tensor.name().endsWith(codes)) {
            return new TypeUse(DataType.I32, 1, bytes * Byte.SIZE / bits, bytes);
        }
        return isBeside ? new TypeUse(DataType.I32, 0, 0, bytes) : TypeUse.of(tensor);
    }

    static boolean areZeros(Tensor tensor) {
        for (long i = 0; i < tensor.data().byteSize(); i++) {
            if (tensor.data().get(JAVA_BYTE, i) != 0) {
                return false;
            }
        }
        return true;
    }
}
