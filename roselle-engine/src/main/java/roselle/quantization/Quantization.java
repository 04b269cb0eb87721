package roselle.quantization;

import java.util.List;
import java.util.Optional;
import roselle.api.CheckpointException;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.summary.ModelSummary.TypeUse;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/**
 * How a checkpoint's matrices are stored, as its configuration says: each kind of {@code quantization_config} is a class that
 * binds matrices to their tensors, and refuses what it does not know.
 */
public interface Quantization {
    /** The field of config.json. */
    String FIELD = "quantization_config";

    /**
     * Reads what a checkpoint's configuration says.
     *
     * @throws CheckpointException for a method, a field or a value that is not known
     */
    @SuppressWarnings("exports") // devices see what is bound, not how it was read
    static Quantization of(Checkpoint checkpoint) {
        if (checkpoint.format() == Checkpoint.Format.GGUF) {
            return new InOneTensor();
        }
        return checkpoint
                .config()
                .object(FIELD)
                .map(config -> read(new MethodFields(config)))
                .or(() -> checkpoint.modelOptConfig().map(config -> read(new MethodFields(config, "modelopt"))))
                .orElseGet(InOneTensor::new);
    }

    private static Quantization read(MethodFields fields) {
        return switch (fields.method()) {
            case "fp8" -> new Fp8(fields);
            case "mxfp4" -> new Mxfp4(fields);
            case "gptq" -> Gptq.read(fields);
            case "awq" -> Awq.read(fields);
            case "compressed-tensors" -> new CompressedTensors(fields);
            case "bitsandbytes" -> new BitsAndBytes(fields);
            case "modelopt", "modelopt_fp4", "modelopt_mixed", "modelopt_mxfp8" -> new ModelOpt(fields);
            default ->
                throw fields.unsupported(
                        "quant_method",
                        fields.method(),
                        "fp8, mxfp4, gptq, awq, compressed-tensors, bitsandbytes or modelopt");
        };
    }

    /** In a few words for people; empty where nothing is quantized but what types tell. */
    Optional<String> description();

    /** The matrix whose codes lie in a tensor, with whatever they need beside it. */
    StoredMatrix matrix(Tensor codes, NamedTensors tensors);

    /** What the names of tensors with a module's codes end with, where that is not {@code .weight}. */
    default Optional<String> codesEnding() {
        return Optional.empty();
    }

    /**
     * The matrix of a module whose codes are no tensor of floats; empty where the module is stored as if nothing were quantized.
     *
     * @param base the module's name
     */
    default Optional<StoredMatrix> integers(String base, Shape shape, NamedTensors tensors, Copies copies) {
        return Optional.empty();
    }

    /** Whether a tensor that no part asks for says nothing. */
    default boolean saysNothing(Tensor tensor) {
        return false;
    }

    /** Matrices of a stack whose blocks and scales must be put together before they are read; empty where it has none. */
    default List<SplitBlocks> split(String name, int matrices, Shape one, NamedTensors tensors) {
        return List.of();
    }

    /** How a tensor counts in a model's size: scales are part of the numbers that they scale, not numbers of their own. */
    @SuppressWarnings("exports") // asked by those who may see checkpoints
    default TypeUse use(Tensor tensor) {
        return TypeUse.of(tensor);
    }

    /** Whether a tensor of this name has the scales of another one. */
    default boolean isScales(String name) {
        return false;
    }
}
