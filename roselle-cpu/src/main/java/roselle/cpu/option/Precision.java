package roselle.cpu.option;

import java.util.Locale;
import roselle.api.InvalidRequestException;
import roselle.cpu.machine.Compute;
import roselle.tensor.DataType;

/** What the factors of products are rounded to. */
public enum Precision {
    /** bfloat16 for quantized and bfloat16 weights where the processor multiplies it, float32 for others. */
    AUTO,
    F32,
    BF16;

    /** The precision that a flag names. */
    public static Precision of(String name) {
        return switch (name.toLowerCase(Locale.ROOT)) {
            case "auto" -> AUTO;
            case "f32" -> F32;
            case "bf16" -> BF16;
            default -> throw new InvalidRequestException("compute is " + name + ": it must be auto, f32 or bf16");
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
            case AUTO -> type == DataType.F32 || type == DataType.F16 ? Compute.F32 : Compute.BF16;
        };
    }
}
