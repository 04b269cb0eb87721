package roselle.checkpoint.huggingface;

import java.util.List;
import roselle.checkpoint.InMemory;
import roselle.checkpoint.file.MappedFile;
import roselle.tensor.Tensor;

/** Reads a whole safetensors file from an array. */
public final class SafetensorsInMemory {
    private SafetensorsInMemory() {}

    public static List<Tensor> read(byte[] bytes) {
        MappedFile file = InMemory.file(bytes);
        return SafetensorsHeader.read(file).stream()
                .map(place -> place.in(file))
                .toList();
    }
}
