package roselle.cpu.format;

import roselle.quantization.StoredMatrix;
import roselle.tensor.DataType;

/** Which kernel reads which weight format: each has a scalar twin, its Dequantizer. */
public final class Formats {
    private Formats() {}

    /** The kernel of a matrix, its scales included. */
    public static WeightFormat of(StoredMatrix matrix) {
        DataType type = matrix.codes().type();
        return switch (matrix) {
            case StoredMatrix.Whole _ -> of(type);
            case StoredMatrix.Scaled scaled ->
                new ScaledFormat(
                        type == DataType.I8 ? new ByteFormat(type) : of(type), scaled.codes(), scaled.scales());
            case StoredMatrix.Tabled tabled ->
                new ScaledFormat(new ByteFormat(tabled.values()), tabled.codes(), tabled.scales());
        };
    }

    /** The kernel of a format; an exception for types that hold no weights. */
    public static WeightFormat of(DataType type) {
        return switch (type) {
            case F32 -> new F32Format();
            case F16 -> new F16Format();
            case BF16 -> new Bf16Format();
            case F8_E4M3 -> new E4m3Format();
            case F8_E5M2 -> new ByteFormat(type);
            case Q8_0 -> new BlockFormat(SmallBlock.Q8_0);
            case Q4_0 -> new BlockFormat(SmallBlock.Q4_0);
            case Q4_1 -> new BlockFormat(SmallBlock.Q4_1);
            case Q5_0 -> new BlockFormat(SmallBlock.Q5_0);
            case Q5_1 -> new BlockFormat(SmallBlock.Q5_1);
            case IQ4_NL -> new BlockFormat(SmallBlock.IQ4_NL);
            case MXFP4 -> new BlockFormat(SmallBlock.MXFP4);
            case Q2_K -> new BlockFormat(SuperBlock.Q2_K);
            case Q3_K -> new BlockFormat(SuperBlock.Q3_K);
            case Q4_K -> new BlockFormat(SuperBlock.Q4_K);
            case Q5_K -> new BlockFormat(SuperBlock.Q5_K);
            case Q6_K -> new BlockFormat(SuperBlock.Q6_K);
            case IQ4_XS -> new BlockFormat(SuperBlock.IQ4_XS);
            case IQ1_S, IQ1_M, IQ2_XXS, IQ2_XS, IQ2_S, IQ3_XXS, IQ3_S, TQ1_0, TQ2_0, NVFP4, Q1_0, Q2_0 ->
                new ScalarBlocks(type);
            case F64, I8, I16, I32, I64, U8, U16, U32, U64, BOOL, F8_E4M3_128, I8_128, I8_32, I4_128, I4_32 ->
                throw new IllegalArgumentException("weights cannot be of type " + type.label());
        };
    }
}
