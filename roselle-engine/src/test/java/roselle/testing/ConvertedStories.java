package roselle.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.Metadata;
import roselle.checkpoint.gguf.GgufWriter;
import roselle.checkpoint.path.Checkpoints;
import roselle.tensor.DataType;
import roselle.tensor.Quantizer;
import roselle.tensor.Tensor;

/** The story teller of the shared data, its matrices in another type where their rows are whole blocks of it. */
public final class ConvertedStories {
    public static final String ORIGINAL = "stories260k/stories260K.gguf";

    private ConvertedStories() {}

    /** Writes the converted model, without a tokenizer, into a folder. */
    public static Path write(DataType type, Path folder) throws IOException {
        var writer = new GgufWriter().put("general.architecture", "llama");
        try (Checkpoint original = Checkpoints.open(SharedData.path(ORIGINAL))) {
            copyKeys(original.config(), writer);
            original.tensors().values().forEach(tensor -> writer.tensor(converted(tensor, type)));
        }
        return Files.write(folder.resolve("stories-" + type.label() + ".gguf"), writer.toBytes());
    }

    private static void copyKeys(Metadata config, GgufWriter writer) {
        for (String key : config.keys()) {
            if (key.equals("llama.rope.freq_base") || key.equals("llama.attention.layer_norm_rms_epsilon")) {
                writer.put(key, (float) config.number(key));
            } else if (key.startsWith("llama.")) {
                writer.put(key, config.integer(key));
            }
        }
    }

    private static Tensor converted(Tensor tensor, DataType type) {
        boolean isMatrix = tensor.shape().rank() == 2;
        return isMatrix && tensor.shape().columns() % type.blockElements() == 0
                ? Quantizer.convert(tensor, type)
                : tensor;
    }
}
