package roselle.tensor;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How numbers are laid out in memory: plain types have blocks of one element, quantized types blocks of several.
 *
 * <p>Layouts of the quantized types are those of ggml ({@code ggml-common.h}); a row is a whole number of blocks. A constant
 * says all that is known of a layout; the kernels of a GPU know it by its {@link #ordinal}.
 */
@SuppressWarnings("ImmutableEnumChecker") // a record of numbers, and functions without state
public enum DataType {
    F32(0, Packing.plain(32), PlainNumbers::float32),
    F16(1, Packing.plain(16), PlainNumbers::float16),
    BF16(30, Packing.plain(16), PlainNumbers::bfloat16),
    F64(28, Packing.plain(64), PlainNumbers::float64),
    I8(24, Packing.plain(8), PlainNumbers::int8),
    I16(25, Packing.plain(16), PlainNumbers::int16),
    I32(26, Packing.plain(32), PlainNumbers::int32),
    I64(27, Packing.plain(64), PlainNumbers::int64),
    U8(DataType.NOT_IN_GGUF, Packing.plain(8), PlainNumbers::uint8),
    U16(DataType.NOT_IN_GGUF, Packing.plain(16), PlainNumbers::uint16),
    U32(DataType.NOT_IN_GGUF, Packing.plain(32), PlainNumbers::uint32),
    U64(DataType.NOT_IN_GGUF, Packing.plain(64), PlainNumbers::uint64),
    BOOL(DataType.NOT_IN_GGUF, Packing.plain(8), PlainNumbers::bool),
    F8_E4M3(DataType.NOT_IN_GGUF, Packing.plain(8), Float8::e4m3),
    F8_E5M2(DataType.NOT_IN_GGUF, Packing.plain(8), Float8::e5m2),
    Q4_0(
            2,
            Packing.block(32, 4, 16),
            SmallBlocks::q4_0,
            BlockFields.of(CodeValues.less(4, 8), BlockFactor.half(0), BitPlane.of(32, 2, 16, 4))),
    Q4_1(
            3,
            Packing.block(32, 4, 16).withMinima(16),
            SmallBlocks::q4_1,
            BlockFields.of(CodeValues.unsigned(4), BlockFactor.half(0), BitPlane.of(32, 4, 16, 4))
                    .plus(BlockFactor.half(2))),
    Q5_0(
            6,
            Packing.block(32, 5, 16),
            SmallBlocks::q5_0,
            BlockFields.of(
                    CodeValues.less(5, 16),
                    BlockFactor.half(0),
                    BitPlane.of(32, 6, 16, 4),
                    BitPlane.of(32, 2, 1, 1).above(4))),
    Q5_1(
            7,
            Packing.block(32, 5, 16).withMinima(16),
            SmallBlocks::q5_1,
            BlockFields.of(
                            CodeValues.unsigned(5),
                            BlockFactor.half(0),
                            BitPlane.of(32, 8, 16, 4),
                            BitPlane.of(32, 4, 1, 1).above(4))
                    .plus(BlockFactor.half(2))),
    Q8_0(
            8,
            Packing.block(32, 8, 16),
            SmallBlocks::q8_0,
            BlockFields.of(CodeValues.signed(8), BlockFactor.half(0), BitPlane.of(32, 2, 32, 8))),
    Q2_K(10, Packing.superBlock(2, 32).grouped(16, 4).withMinima(4), SuperBlocks::q2_k),
    Q3_K(11, Packing.superBlock(3, 16).grouped(16, 6), SuperBlocks::q3_k),
    Q4_K(
            12,
            Packing.superBlock(4, 32).grouped(32, 6).withMinima(6),
            SuperBlocks::q4_k,
            BlockFields.of(CodeValues.unsigned(4), SuperBlocks.SCALES, BitPlane.of(256, 16, 32, 4))
                    .less(SuperBlocks.MINIMA)),
    Q5_K(
            13,
            Packing.superBlock(5, 32).grouped(32, 6).withMinima(6),
            SuperBlocks::q5_k,
            BlockFields.of(
                            CodeValues.unsigned(5),
                            SuperBlocks.SCALES,
                            BitPlane.of(256, 48, 32, 4),
                            BitPlane.of(256, 16, 32, 1).above(4))
                    .less(SuperBlocks.MINIMA)),
    Q6_K(
            14,
            Packing.superBlock(6, 16).grouped(16, 8),
            SuperBlocks::q6_k,
            BlockFields.of(
                    CodeValues.less(6, 32),
                    BlockFactor.half(208).times(CodeValues.signed(8), BitPlane.of(16, 192, 16, 8)),
                    BitPlane.of(256, 0, 64, 4),
                    BitPlane.of(256, 128, 32, 2).above(4))),
    IQ4_NL(
            20,
            Packing.block(32, 4, 16),
            TableBlocks::iq4_nl,
            BlockFields.of(TableBlocks.STEPS, BlockFactor.half(0), BitPlane.of(32, 2, 16, 4))),
    IQ4_XS(
            23,
            Packing.superBlock(4, 16).grouped(32, 6),
            TableBlocks::iq4_xs,
            BlockFields.of(
                    TableBlocks.STEPS,
                    BlockFactor.half(0)
                            .times(
                                    CodeValues.less(6, 32),
                                    BitPlane.of(8, 4, 1, 4),
                                    BitPlane.of(8, 2, 1, 2).above(4)),
                    BitPlane.of(256, 8, 16, 4))),
    MXFP4(39, Packing.block(32, 4, 8), TableBlocks::mxfp4),
    /** FP8 with a float32 scale before each 128 of a row: what devices make of codes and scales that lie apart in a checkpoint. */
    F8_E4M3_128(
            DataType.NOT_IN_GGUF,
            Packing.block(128, 8, 32),
            BlockFields.of(
                    CodeValues.plain(Float8::e4m3),
                    BlockFactor.of(BlockFactor.Encoding.F32, 0),
                    BitPlane.of(128, 4, 128, 8))),
    /** Bytes with a float32 scale before each 128 of a row, made like {@link #F8_E4M3_128}. */
    I8_128(DataType.NOT_IN_GGUF, Packing.block(128, 8, 32), SmallBlocks::i8_128),
    /** The same for each 32. */
    I8_32(DataType.NOT_IN_GGUF, Packing.block(32, 8, 32), SmallBlocks::i8_32),
    /** Codes of 4 bits with a float32 scale and a float32 zero before each 128 of a row, made like {@link #F8_E4M3_128}. */
    I4_128(DataType.NOT_IN_GGUF, Packing.block(128, 4, 64), SmallBlocks::i4_128),
    /** The same for each 32. */
    I4_32(DataType.NOT_IN_GGUF, Packing.block(32, 4, 64), SmallBlocks::i4_32),
    IQ2_XXS(16, Packing.shared(2, 66), CodebookBlocks::iq2_xxs),
    IQ2_XS(17, Packing.shared(2, 74), CodebookBlocks::iq2_xs),
    IQ2_S(22, Packing.shared(2, 82), CodebookBlocks::iq2_s),
    IQ3_XXS(18, Packing.shared(3, 98), CodebookBlocks::iq3_xxs),
    IQ3_S(21, Packing.shared(3, 110), CodebookBlocks::iq3_s),
    IQ1_S(19, Packing.shared(1, 50), CodebookBlocks::iq1_s),
    IQ1_M(29, Packing.shared(1, 56), CodebookBlocks::iq1_m),
    TQ1_0(34, Packing.shared(1, 54), TernaryBlocks::tq1_0),
    TQ2_0(35, Packing.superBlock(2, 16), TernaryBlocks::tq2_0),
    NVFP4(40, Packing.block(64, 4, 8).grouped(16, 8), TableBlocks::nvfp4),
    Q1_0(41, Packing.block(128, 1, 16), TernaryBlocks::q1_0),
    Q2_0(42, Packing.block(64, 2, 16), TernaryBlocks::q2_0);

    private static final int NOT_IN_GGUF = -1;
    private static final Set<DataType> WHOLE_NUMBERS =
            Collections.unmodifiableSet(EnumSet.of(I8, I16, I32, I64, U8, U16, U32, U64, BOOL));

    private final int ggufNumber;
    private final Packing packing;
    private final int blockBytes;
    private final Dequantizer dequantizer;
    private final @Nullable BlockFields fields;

    DataType(int ggufNumber, Packing packing, Dequantizer dequantizer) {
        this.ggufNumber = ggufNumber;
        this.packing = packing;
        blockBytes = packing.bytes();
        this.dequantizer = dequantizer;
        fields = null;
    }

    DataType(int ggufNumber, Packing packing, Dequantizer.OneBlock block) {
        this(ggufNumber, packing, block, null);
    }

    DataType(int ggufNumber, Packing packing, Dequantizer.OneBlock block, @Nullable BlockFields fields) {
        this.ggufNumber = ggufNumber;
        this.packing = packing;
        blockBytes = packing.bytes();
        dequantizer = Dequantizer.blocks(this, block);
        this.fields = fields;
    }

    /** A type whose conversion follows from where its fields lie. */
    DataType(int ggufNumber, Packing packing, BlockFields fields) {
        this(ggufNumber, packing, fields.dequantizer(packing.group()), fields);
    }

    /** The type that GGUF gives a number; empty for numbers of none or of one that Roselle does not know. */
    public static Optional<DataType> ofGguf(int number) {
        for (DataType type : values()) {
            if (type.ggufNumber == number && number != NOT_IN_GGUF) {
                return Optional.of(type);
            }
        }
        return Optional.empty();
    }

    /** The number that GGUF gives it; empty for types that GGUF does not have. */
    public OptionalInt ggufNumber() {
        return ggufNumber == NOT_IN_GGUF ? OptionalInt.empty() : OptionalInt.of(ggufNumber);
    }

    /** The plain type that safetensors gives a name; exponents alone, which are scales of other tensors, are bytes. */
    public static Optional<DataType> ofSafetensors(String name) {
        if (name.equals("F8_E8M0")) {
            return Optional.of(U8);
        }
        for (DataType type : values()) {
            if (!type.isQuantized() && type.name().equals(name)) {
                return Optional.of(type);
            }
        }
        return Optional.empty();
    }

    /** What a block is made of. */
    public Packing packing() {
        return packing;
    }

    /** Where the fields of a block lie; empty for plain types, and for those of which it was not said. */
    public Optional<BlockFields> fields() {
        return Optional.ofNullable(fields);
    }

    /** The way from its numbers to floats. */
    Dequantizer dequantizer() {
        return dequantizer;
    }

    /** Elements that share one block; 1 for plain types. */
    public int blockElements() {
        return packing.elements();
    }

    /** Bytes of one block. */
    public int blockBytes() {
        return blockBytes;
    }

    public boolean isQuantized() {
        return packing.elements() > 1;
    }

    /** Whether it stands for numbers with fractions: plain floats, or quantized blocks. */
    public boolean isFloating() {
        return !WHOLE_NUMBERS.contains(this);
    }

    /** Bytes of a row of {@code elements}, which must be a multiple of {@link #blockElements}. */
    public long rowBytes(long elements) {
        if (elements % blockElements() != 0) {
            throw new IllegalArgumentException("a row of " + elements + " elements is not a multiple of the "
                    + blockElements() + " elements of a " + this + " block");
        }
        return Math.multiplyExact(elements / blockElements(), blockBytes);
    }

    /** The name as flags and messages write it: {@code q4_0}, {@code bf16}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
