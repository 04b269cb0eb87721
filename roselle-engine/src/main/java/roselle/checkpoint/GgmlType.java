package roselle.checkpoint;

import java.util.Optional;
import roselle.tensor.DataType;

/** The numbers by which GGUF names the layouts of tensors. */
final class GgmlType {
    private GgmlType() {}

    /** The layout of a number; empty where Roselle does not know it. */
    static Optional<DataType> of(int number) {
        return Optional.ofNullable(
                switch (number) {
                    case 0 -> DataType.F32;
                    case 1 -> DataType.F16;
                    case 2 -> DataType.Q4_0;
                    case 3 -> DataType.Q4_1;
                    case 6 -> DataType.Q5_0;
                    case 7 -> DataType.Q5_1;
                    case 8 -> DataType.Q8_0;
                    case 10 -> DataType.Q2_K;
                    case 11 -> DataType.Q3_K;
                    case 12 -> DataType.Q4_K;
                    case 13 -> DataType.Q5_K;
                    case 14 -> DataType.Q6_K;
                    case 20 -> DataType.IQ4_NL;
                    case 23 -> DataType.IQ4_XS;
                    case 24 -> DataType.I8;
                    case 25 -> DataType.I16;
                    case 26 -> DataType.I32;
                    case 27 -> DataType.I64;
                    case 28 -> DataType.F64;
                    case 30 -> DataType.BF16;
                    case 39 -> DataType.MXFP4;
                    default -> null;
                });
    }

    /** A number with the name that ggml gives it, for messages about layouts that Roselle does not read. */
    static String describe(int number) {
        String name = switch (number) {
            case 9 -> "Q8_1";
            case 15 -> "Q8_K";
            case 16 -> "IQ2_XXS";
            case 17 -> "IQ2_XS";
            case 18 -> "IQ3_XXS";
            case 19 -> "IQ1_S";
            case 21 -> "IQ3_S";
            case 22 -> "IQ2_S";
            case 29 -> "IQ1_M";
            case 34 -> "TQ1_0";
            case 35 -> "TQ2_0";
            case 40 -> "NVFP4";
            default -> "unknown";
        };
        return Integer.toUnsignedString(number) + " (" + name + ")";
    }
}
