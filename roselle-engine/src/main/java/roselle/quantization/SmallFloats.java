package roselle.quantization;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import roselle.tensor.DataType;
import roselle.tensor.Dequantizer;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/**
 * Matrices of small floats whose scales are small, too, whoever names their tensors: NVFP4 (E2M1 with E4M3 for each 16 and one
 * number for all), MXFP4 and MXFP8 (E2M1 and E4M3 with a power of two for each 32; OCP Microscaling Formats 1.0).
 */
final class SmallFloats {
    private static final String SCALES = ".weight_scale";
    private static final int NO_NUMBER = 0xff; // of E8M0
    private static final int BIAS = 127;

    /** The numbers of E2M1, all of which E4M3 has, by their codes. */
    private static final int[] E2M1_AS_E4M3 = {0, 0x30, 0x38, 0x3c, 0x40, 0x44, 0x48, 0x4c};

    private static final int SIGN_OF_E2M1 = 8;
    private static final int SIGN_OF_E4M3 = 0x80;

    private SmallFloats() {}

    /** What the scale of all numbers makes of a group's. */
    @FunctionalInterface
    interface Overall {
        float of(float scale);
    }

    /**
     * NVFP4, as E4M3 with a float32 scale for each group.
     *
     * @param ending of the tensor with codes, two in a byte, the first one lowest
     */
    static StoredMatrix nvfp4(IntegerGroups parts, String ending, Overall overall, Copies copies) {
        Tensor pairs = pairs(parts, ending);
        MemorySegment codes = pairs.data();
        long rowCodes = 2 * pairs.shape().columns();
        Tensor stored = parts.required(SCALES, DataType.F8_E4M3, parts.grid());
        float[] numbers = ofE4m3();
        for (long i = 0; i < parts.grid().elements(); i++) {
            float scale = overall.of(numbers[Byte.toUnsignedInt(stored.data().get(JAVA_BYTE, i))]);
            if (!(scale >= 0 && scale < Float.POSITIVE_INFINITY)) {
                throw parts.failure(
                        stored.name(),
                        "has the scale " + scale + " at " + i + "; scales are finite, and none is below 0");
            }
        }
        Shape grid = parts.grid();
        Tensor scales = copies.floats(
                stored.name(),
                grid,
                (row, group) -> overall.of(numbers[
                        Byte.toUnsignedInt(stored.data().get(JAVA_BYTE, row * grid.columns() + group))]));
        Tensor bytes = copies.bytes(
                parts.base() + ".weight", parts.shape(), (row, column) -> toE4m3(codes, row * rowCodes + column));
        return new StoredMatrix.Scaled(
                new Tensor(bytes.name(), DataType.F8_E4M3, bytes.shape(), bytes.data()),
                new GroupScales(parts.columns(), scales, 0));
    }

    private static int toE4m3(MemorySegment codes, long index) {
        int code = (codes.get(JAVA_BYTE, index / 2) >>> (index % 2 * 4)) & 0xf;
        int size = E2M1_AS_E4M3[code % SIGN_OF_E2M1];
        return code < SIGN_OF_E2M1 ? size : size | SIGN_OF_E4M3;
    }

    private static float[] ofE4m3() {
        var codes = new byte[1 << Byte.SIZE];
        for (int code = 0; code < codes.length; code++) {
            codes[code] = (byte) code;
        }
        var numbers = new float[codes.length];
        Dequantizer.of(DataType.F8_E4M3).dequantize(MemorySegment.ofArray(codes), 0, numbers, 0, numbers.length);
        return numbers;
    }

    /** MXFP4, as the blocks of GGUF. */
    static StoredMatrix mxfp4(IntegerGroups parts, String ending, Copies copies) {
        Tensor codes = pairs(parts, ending);
        Tensor scales = exponents(parts);
        int block = DataType.MXFP4.blockElements();
        if (parts.shape().columns() % block != 0) {
            throw parts.failure(
                    codes.name(),
                    "has rows of " + parts.shape().columns() + " numbers, which is not a multiple of " + block);
        }
        return copies.joined(new SplitBlocks(parts.base() + ".weight", parts.shape(), codes.data(), scales.data()));
    }

    /** MXFP8, as E4M3 with a float32 scale for each group. */
    static StoredMatrix mxfp8(IntegerGroups parts, Copies copies) {
        Tensor codes = parts.required(".weight", DataType.F8_E4M3, parts.shape());
        Tensor stored = exponents(parts);
        long columns = parts.grid().columns();
        Tensor scales = copies.floats(
                stored.name(),
                parts.grid(),
                (row, group) ->
                        Math.scalb(1f, Byte.toUnsignedInt(stored.data().get(JAVA_BYTE, row * columns + group)) - BIAS));
        return new StoredMatrix.Scaled(codes, new GroupScales(parts.columns(), scales, 0));
    }

    /** A positive number of float32 that stands alone. */
    static float one(IntegerGroups parts, String ending) {
        Tensor tensor = parts.alone(ending);
        return new GroupScales(new Group(1, 1), tensor, 0).number(0);
    }

    private static Tensor pairs(IntegerGroups parts, String ending) {
        Shape shape = parts.shape();
        return parts.required(ending, DataType.U8, Shape.of(shape.rows(), Math.ceilDiv(shape.columns(), 2)));
    }

    /** Powers of two, none of which is the code for no number. */
    private static Tensor exponents(IntegerGroups parts) {
        Tensor scales = parts.required(SCALES, DataType.U8, parts.grid());
        for (long i = 0; i < scales.data().byteSize(); i++) {
            if (Byte.toUnsignedInt(scales.data().get(JAVA_BYTE, i)) == NO_NUMBER) {
                throw parts.failure(scales.name(), "has the scale NaN at " + i + "; scales are positive and finite");
            }
        }
        return scales;
    }
}
