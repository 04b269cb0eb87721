package roselle.engine;

import java.nio.file.Path;
import java.util.Comparator;
import roselle.api.CheckpointException;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.gguf.FileTypes;
import roselle.checkpoint.path.Checkpoints;
import roselle.checkpoint.summary.ModelSummary;
import roselle.checkpoint.summary.ModelSummary.TypeUse;
import roselle.quantization.Quantization;

/**
 * What a model's files say of it, without its weights.
 *
 * @param format {@code gguf} or {@code safetensors}
 * @param architecture as the files name it; empty where they do not
 * @param parameters numbers in all tensors
 * @param quantization how they are stored: the mix that a GGUF file says it is of, such as {@code Q4_K_M}, else the type that most
 *     of them have, such as {@code BF16}; codes of FP8 are {@code FP8}
 * @param fileBytes of the files that hold tensors
 * @param chatTemplate its source in Jinja; empty where there is none
 */
public record ModelFacts(
        String format, String architecture, long parameters, String quantization, long fileBytes, String chatTemplate) {
    /**
     * Reads the headers of a model's files.
     *
     * @throws CheckpointException if they cannot be read
     */
    public static ModelFacts of(Path model) {
        try (Checkpoint checkpoint = Checkpoints.open(model)) {
            return of(checkpoint);
        }
    }

    @SuppressWarnings("exports") // for engines, which have one
    public static ModelFacts of(Checkpoint checkpoint) {
        ModelSummary summary = summary(checkpoint);
        String type = summary.types().stream()
                .max(Comparator.comparingLong(TypeUse::elements))
                .map(use -> use.type().name())
                .orElse("");
        String format = switch (checkpoint.format()) {
            case GGUF -> "gguf";
            case HUGGING_FACE -> "safetensors";
        };
        return new ModelFacts(
                format,
                summary.architecture().orElse(""),
                summary.parameters(),
                FileTypes.name(checkpoint.config()).orElse(type.startsWith("F8_") ? "FP8" : type),
                summary.bytesOnDisk(),
                checkpoint.chatTemplate().orElse(""));
    }

    /** Scales count as such where it is known which tensors have them. */
    private static ModelSummary summary(Checkpoint checkpoint) {
        try {
            return ModelSummary.of(checkpoint, Quantization.of(checkpoint)::use);
        } catch (CheckpointException unknown) {
            return ModelSummary.of(checkpoint);
        }
    }
}
