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
            case 4 -> "Q4_2, which ggml removed";
            case 5 -> "Q4_3, which ggml removed";
            case 9 -> "Q8_1, which is for activations";
            case 15 -> "Q8_K, which is for activations";
            case 31 -> "Q4_0_4_4, which ggml removed";
            case 32 -> "Q4_0_4_8, which ggml removed";
            case 33 -> "Q4_0_8_8, which ggml removed";
            case 36 -> "IQ4_NL_4_4, which ggml removed";
            case 37 -> "IQ4_NL_4_8, which ggml removed";
            case 38 -> "IQ4_NL_8_8, which ggml removed";
            default -> "unknown";
        };
        return Integer.toUnsignedString(number) + " (" + name + ")";
    }
}
