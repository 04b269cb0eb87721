package roselle.checkpoint.gguf;

import java.util.List;
import roselle.checkpoint.InMemory;
import roselle.checkpoint.file.MappedFile;
import roselle.tensor.Tensor;

/** Reads a whole GGUF file from an array. */
public final class GgufInMemory {
    private GgufInMemory() {}

    public static List<Tensor> read(byte[] bytes) {
        MappedFile file = InMemory.file(bytes);
        GgufHeader header = GgufHeaderReader.read(file);
        InMemory.readAll(new GgufMetadata(file, header.metadata()));
        return header.tensors().stream().map(place -> place.in(file)).toList();
    }
}
