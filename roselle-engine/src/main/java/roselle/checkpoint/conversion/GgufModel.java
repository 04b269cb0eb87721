package roselle.checkpoint.conversion;

import java.util.List;
import roselle.api.CheckpointException;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.gguf.GgufMetadata;

/**
 * A model as a GGUF file has it, whatever its files are.
 *
 * @param files where it is from, open for as long as the tensors are used
 * @param keys what stands before the tensors
 * @param tensors in the order of the file
 */
public record GgufModel(Checkpoint files, GgufMetadata keys, List<SourceTensor> tensors) {
    public GgufModel {
        tensors = List.copyOf(tensors);
    }

    /**
     * The model of a GGUF file, or of a Hugging Face folder under GGUF's names.
     *
     * @throws CheckpointException for a folder that GGUF has no words for, or whose family is not converted
     */
    public static GgufModel of(Checkpoint checkpoint) {
        return switch (checkpoint.format()) {
            case GGUF ->
                new GgufModel(
                        checkpoint,
                        (GgufMetadata) checkpoint.config(),
                        checkpoint.tensors().values().stream()
                                .map(SourceTensor::new)
                                .toList());
            case HUGGING_FACE -> FolderConversion.of(checkpoint);
        };
    }
}
