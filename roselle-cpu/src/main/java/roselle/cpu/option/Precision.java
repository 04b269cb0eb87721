package roselle.cpu.option;

import java.util.Locale;
import roselle.api.InvalidRequestException;
import roselle.cpu.machine.Compute;
import roselle.tensor.DataType;

/** What the factors of products are rounded to. */
public enum Precision {
    /** bfloat16 for quantized and bfloat16 weights where the path multiplies it, float32 for others. */
    AUTO,
    /** The same, and where the path has AMX tiles two numbers of bfloat16 for each of float32 weights; nobody asks for it by name. */
    SPLIT,
    F32,
    BF16,
    /** Bytes, with a scale for each 32 activations, where weights are codes of at most 8 bits; others as with {@link #AUTO}. */
    INT8;

    /** The precision that a flag names. */
    public static Precision of(String name) {
        return switch (name.toLowerCase(Locale.ROOT)) {
            case "auto" -> AUTO;
            case "f32" -> F32;
            case "bf16" -> BF16;
            case "int8" -> INT8;
            default -> throw new InvalidRequestException("compute is " + name + ": it must be auto, f32, bf16 or int8");
        };
    }

    /** What a flag calls it. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The precision for weights of a type. */
    public Compute of(DataType type) {
        return switch (this) {
            case F32 -> Compute.F32;
            case BF16 -> Compute.BF16;
            case AUTO, SPLIT, INT8 -> type == DataType.F32 || type == DataType.F16 ? Compute.F32 : Compute.BF16;
        };
    }
}
