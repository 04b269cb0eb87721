package roselle.tensor;

import java.util.Locale;

/**
 * How numbers are laid out in memory: plain types have blocks of one element, quantized types blocks of several.
 *
 * <p>Layouts of the quantized types are those of ggml ({@code ggml-common.h}); a row is a whole number of blocks.
 */
public enum DataType {
    F32(1, 4),
    F16(1, 2),
    BF16(1, 2),
    F64(1, 8),
    I8(1, 1),
    I16(1, 2),
    I32(1, 4),
    I64(1, 8),
    U8(1, 1),
    U16(1, 2),
    U32(1, 4),
    U64(1, 8),
    BOOL(1, 1),
    F8_E4M3(1, 1),
    F8_E5M2(1, 1),
    Q4_0(32, 18),
    Q4_1(32, 20),
    Q5_0(32, 22),
    Q5_1(32, 24),
    Q8_0(32, 34),
    Q2_K(256, 84),
    Q3_K(256, 110),
    Q4_K(256, 144),
    Q5_K(256, 176),
    Q6_K(256, 210),
    IQ4_NL(32, 18),
    IQ4_XS(256, 136),
    MXFP4(32, 17);

    private final int blockElements;
    private final int blockBytes;

    DataType(int blockElements, int blockBytes) {
        this.blockElements = blockElements;
        this.blockBytes = blockBytes;
    }

    /** Elements that share one block; 1 for plain types. */
    public int blockElements() {
        return blockElements;
    }

    /** Bytes of one block. */
    public int blockBytes() {
        return blockBytes;
    }

    public boolean isQuantized() {
        return blockElements > 1;
    }

    /** Bytes of a row of {@code elements}, which must be a multiple of {@link #blockElements}. */
    public long rowBytes(long elements) {
        if (elements % blockElements != 0) {
            throw new IllegalArgumentException("a row of " + elements + " elements is not a multiple of the "
                    + blockElements + " elements of a " + this + " block");
        }
        return Math.multiplyExact(elements / blockElements, blockBytes);
    }

    /** The name as flags and messages write it: {@code q4_0}, {@code bf16}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
