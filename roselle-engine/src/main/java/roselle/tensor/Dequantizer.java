package roselle.tensor;

import java.lang.foreign.MemorySegment;

/**
 * Turns the stored numbers of one data type into floats: the scalar truth that kernels are tested against.
 *
 * <p>Results equal those of the {@code gguf} Python package bit for bit, NaN's payload aside. Products and sums are
 * rounded one by one, in the order in which the reference does them, and never fused.
 */
@FunctionalInterface
public interface Dequantizer {
    /**
     * Converts {@code elements}, a whole number of blocks.
     *
     * @param offset of the first block in {@code source}, in bytes
     * @param start index of the first result in {@code target}
     */
    void dequantize(MemorySegment source, long offset, float[] target, int start, int elements);

    /** The conversion of one type. */
    static Dequantizer of(DataType type) {
        return type.dequantizer();
    }

    /** One row of a tensor. */
    static void row(Tensor tensor, long row, float[] target, int start) {
        long columns = tensor.shape().columns();
        long rowBytes = tensor.type().rowBytes(columns);
        of(tensor.type()).dequantize(tensor.data(), row * rowBytes, target, start, Math.toIntExact(columns));
    }

    /** All numbers of a tensor that fits an array. */
    static float[] all(Tensor tensor) {
        float[] numbers = new float[Math.toIntExact(tensor.shape().elements())];
        of(tensor.type()).dequantize(tensor.data(), 0, numbers, 0, numbers.length);
        return numbers;
    }

    /** The conversion of whole blocks, one after the other. */
    static Dequantizer blocks(DataType type, OneBlock block) {
        int blockElements = type.blockElements();
        int blockBytes = type.blockBytes();
        return (source, offset, target, start, elements) -> {
            if (elements % blockElements != 0) {
                throw new IllegalArgumentException(elements + " elements are no whole blocks of " + type);
            }
            for (int i = 0; i < elements / blockElements; i++) {
                block.dequantize(source, offset + (long) i * blockBytes, target, start + i * blockElements);
            }
        };
    }

    /** The conversion of one block. */
    @FunctionalInterface
    interface OneBlock {
        void dequantize(MemorySegment source, long offset, float[] target, int start);
    }
}
