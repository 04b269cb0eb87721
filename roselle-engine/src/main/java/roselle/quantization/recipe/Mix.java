package roselle.quantization.recipe;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import roselle.tensor.DataType;

/** What a whole model is quantized to, by the names that llama-quantize has: a type for most tensors, others for some. */
public enum Mix {
    F32(DataType.F32, 0),
    F16(DataType.F16, 1),
    BF16(DataType.BF16, 32),
    Q8_0(DataType.Q8_0, 7),
    Q4_0(DataType.Q4_0, 2),
    Q4_1(DataType.Q4_1, 3),
    Q5_0(DataType.Q5_0, 8),
    Q5_1(DataType.Q5_1, 9),
    Q2_K(DataType.Q2_K, 10),
    Q2_K_S(DataType.Q2_K, 21),
    Q3_K_S(DataType.Q3_K, 11),
    Q3_K_M(DataType.Q3_K, 12),
    Q3_K_L(DataType.Q3_K, 13),
    Q4_K_S(DataType.Q4_K, 14),
    Q4_K_M(DataType.Q4_K, 15),
    Q5_K_S(DataType.Q5_K, 16),
    Q5_K_M(DataType.Q5_K, 17),
    Q6_K(DataType.Q6_K, 18),
    IQ4_NL(DataType.IQ4_NL, 25),
    IQ4_XS(DataType.IQ4_XS, 30),
    TQ1_0(DataType.TQ1_0, 36),
    TQ2_0(DataType.TQ2_0, 37),
    /** MXFP4 for experts, Q8_0 for all else. */
    MXFP4_MOE(DataType.MXFP4, 38),
    NVFP4(DataType.NVFP4, 39);

    private final DataType type;
    private final int fileType;

    Mix(DataType type, int fileType) {
        this.type = type;
        this.fileType = fileType;
    }

    /** The type of most tensors. */
    public DataType type() {
        return type;
    }

    /** The number that {@code general.file_type} has for it. */
    int fileType() {
        return fileType;
    }

    /** The mix of a name in any case; Q3_K, Q4_K and Q5_K are the middle ones. */
    public static Optional<Mix> named(String name) {
        String upper = name.toUpperCase(Locale.ROOT);
        String full = switch (upper) {
            case "Q3_K", "Q4_K", "Q5_K" -> upper + "_M";
            default -> upper;
        };
        return Arrays.stream(values()).filter(mix -> mix.name().equals(full)).findFirst();
    }

    /** All names, for messages. */
    public static String names() {
        return Arrays.stream(values()).map(Mix::name).collect(Collectors.joining(", "));
    }
}
