package roselle.checkpoint.gguf;

import java.util.Optional;
import roselle.tensor.DataType;

/** The numbers by which GGUF names the layouts of tensors. */
final class GgmlType {
    private GgmlType() {}

    /** The layout of a number; empty where Roselle does not know it. */
    static Optional<DataType> of(int number) {
        return DataType.ofGguf(number);
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
