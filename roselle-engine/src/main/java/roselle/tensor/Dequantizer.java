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
        return switch (type) {
            case F32 -> PlainNumbers::float32;
            case F16 -> PlainNumbers::float16;
            case BF16 -> PlainNumbers::bfloat16;
            case F64 -> PlainNumbers::float64;
            case I8 -> PlainNumbers::int8;
            case I16 -> PlainNumbers::int16;
            case I32 -> PlainNumbers::int32;
            case I64 -> PlainNumbers::int64;
            case U8 -> PlainNumbers::uint8;
            case U16 -> PlainNumbers::uint16;
            case U32 -> PlainNumbers::uint32;
            case U64 -> PlainNumbers::uint64;
            case BOOL -> PlainNumbers::bool;
            case F8_E4M3 -> Float8::e4m3;
            case F8_E5M2 -> Float8::e5m2;
            case Q4_0 -> blocks(type, SmallBlocks::q4_0);
            case Q4_1 -> blocks(type, SmallBlocks::q4_1);
            case Q5_0 -> blocks(type, SmallBlocks::q5_0);
            case Q5_1 -> blocks(type, SmallBlocks::q5_1);
            case Q8_0 -> blocks(type, SmallBlocks::q8_0);
            case Q2_K -> blocks(type, SuperBlocks::q2_k);
            case Q3_K -> blocks(type, SuperBlocks::q3_k);
            case Q4_K -> blocks(type, SuperBlocks::q4_k);
            case Q5_K -> blocks(type, SuperBlocks::q5_k);
            case Q6_K -> blocks(type, SuperBlocks::q6_k);
            case IQ4_NL -> blocks(type, TableBlocks::iq4_nl);
            case IQ4_XS -> blocks(type, TableBlocks::iq4_xs);
            case MXFP4 -> blocks(type, TableBlocks::mxfp4);
        };
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

    private static Dequantizer blocks(DataType type, OneBlock block) {
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
