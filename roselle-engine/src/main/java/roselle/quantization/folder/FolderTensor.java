package roselle.quantization.folder;

import java.util.List;
import roselle.tensor.Tensor;

/**
 * A tensor of the source and what becomes of it.
 *
 * @param stored its tensors in the new files: codes, then scales, then what else its form has; one where the bytes stay as they are
 */
public record FolderTensor(Tensor source, List<StoredTensor> stored, boolean isQuantized) {
    public FolderTensor {
        stored = List.copyOf(stored);
    }

    /** Bytes in the new files. */
    public long bytes() {
        return stored.stream().mapToLong(StoredTensor::bytes).sum();
    }
}
