package roselle.quantization.encoding;

import java.util.Optional;
import org.jspecify.annotations.Nullable;
import roselle.tensor.DataType;

/**
 * Turns floats into the blocks of one data type; the way back is {@link roselle.tensor.Dequantizer}.
 *
 * <p>Without the importance of columns, the simple types have the bits that the {@code gguf} Python package gives them; all others,
 * and simple ones with an importance, have the scales that a search finds least wrong. The same numbers give the same bits.
 */
public final class Encoder {
    private final DataType type;
    private final OneBlock block;

    private Encoder(DataType type, OneBlock block) {
        this.type = type;
        this.block = block;
    }

    /** One block's conversion; its importance lies at the same places as its numbers. */
    @FunctionalInterface
    interface OneBlock {
        void encode(float[] numbers, int from, float @Nullable [] importance, byte[] target, int at);
    }

    /** An encoder for one thread; empty for types that nothing is encoded as. */
    public static Optional<Encoder> of(DataType type) {
        return block(type).map(block -> new Encoder(type, block));
    }

    private static Optional<OneBlock> block(DataType type) {
        OneBlock block;
        switch (type) {
            case F32 -> block = PlainEncoders::float32;
            case F16 -> block = PlainEncoders::float16;
            case BF16 -> block = PlainEncoders::bfloat16;
            case Q4_0 -> block = new SmallEncoder(4, false);
            case Q4_1 -> block = new SmallEncoder(4, true);
            case Q5_0 -> block = new SmallEncoder(5, false);
            case Q5_1 -> block = new SmallEncoder(5, true);
            case Q8_0 -> block = PlainEncoders::q8_0;
            case TQ1_0 -> block = TernaryEncoders::tq1_0;
            case TQ2_0 -> block = TernaryEncoders::tq2_0;
            case MXFP4 -> block = TableEncoder::mxfp4;
            case NVFP4 -> block = TableEncoder::nvfp4;
            case IQ4_NL -> block = TableEncoder.iq4_nl();
            case IQ4_XS -> block = SymmetricEncoder.iq4_xs();
            case Q3_K -> block = SymmetricEncoder.q3_k();
            case Q6_K -> block = SymmetricEncoder.q6_k();
            case Q2_K -> block = AffineEncoder.q2_k();
            case Q4_K -> block = AffineEncoder.q4_k();
            case Q5_K -> block = AffineEncoder.q5_k();
            default -> {
                return Optional.empty();
            }
        }
        return Optional.of(block);
    }

    /**
     * Encodes a row, which must be a whole number of blocks.
     *
     * @param importance of each column, how much its squared errors matter; null where that is not known
     * @param at where in {@code target} the row begins
     */
    public void encode(float[] row, float @Nullable [] importance, byte[] target, int at) {
        int elements = type.blockElements();
        int count = Math.toIntExact(type.rowBytes(row.length) / type.blockBytes());
        for (int i = 0; i < count; i++) {
            block.encode(row, i * elements, importance, target, at + i * type.blockBytes());
        }
    }
}
