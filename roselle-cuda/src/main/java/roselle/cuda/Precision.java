package roselle.cuda;

import roselle.api.DeviceException;
import roselle.backend.DeviceOptions;
import roselle.backend.ModelWeights;
import roselle.tensor.DataType;

/**
 * What a device computes in.
 *
 * @param rows type of the rows between operations: BF16, F16, or F32 to verify
 * @param multipliesFp8 whether rows become FP8 before they are multiplied with weights that a checkpoint has in FP8
 */
record Precision(DataType rows, boolean multipliesFp8) {
    /** Products of rows as they are. */
    static Precision of(DataType rows) {
        return new Precision(rows, false);
    }

    /** By a name that {@link DeviceOptions#compute} has. */
    static Precision of(String compute, ModelWeights weights) {
        return switch (compute) {
            case "auto" -> of(weights.prefersDigits() ? DataType.F16 : DataType.BF16);
            case "bf16" -> of(DataType.BF16);
            case "f16" -> of(DataType.F16);
            case "f32" -> of(DataType.F32);
            case "fp8" -> new Precision(DataType.BF16, true);
            default ->
                throw new DeviceException("a CUDA device computes in auto, bf16, f16, f32 or fp8, not in " + compute);
        };
    }
}
