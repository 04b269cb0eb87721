package roselle.cpu;

import roselle.quantization.StoredMatrix;
import roselle.tensor.DataType;

/** Which kernel reads which weight format: its own, or the scalar twin that every format has. */
final class Formats {
    private Formats() {}

    /** The kernel of a matrix, its scales included. */
    static WeightFormat of(StoredMatrix matrix) {
        WeightFormat codes = of(matrix.codes().type());
        return switch (matrix) {
            case StoredMatrix.Whole _ -> codes;
            case StoredMatrix.Scaled scaled -> new ScaledFormat(codes, scaled);
        };
    }

    /** The kernel of a format; an exception for types that hold no weights. */
    static WeightFormat of(DataType type) {
        return switch (type) {
            case F32 -> new F32Format();
            case F16 -> new F16Format();
            case BF16 -> new Bf16Format();
            case F8_E4M3 -> new E4m3Format();
            case Q8_0 -> new Q8_0Format();
            case Q4_0 -> new Q4_0Format();
            case Q4_K -> new Q4_KFormat();
            case Q6_K -> new Q6_KFormat();
            case F64, I8, I16, I32, I64, U8, U16, U32, U64, BOOL ->
                throw new IllegalArgumentException("weights cannot be of type " + type.label());
            default -> new AnyFormat(type);
        };
    }
}
