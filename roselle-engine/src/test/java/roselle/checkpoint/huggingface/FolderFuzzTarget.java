package roselle.checkpoint.huggingface;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import roselle.checkpoint.InMemory;
import roselle.checkpoint.path.Checkpoints;
import roselle.checkpoint.summary.ModelSummary;

/**
 * Writes any bytes as one of the JSON files of a Hugging Face folder, chosen by the first byte, and opens the folder.
 *
 * <p>For Jazzer: {@code jazzer --cp=... --target_class=roselle.checkpoint.huggingface.FolderFuzzTarget}.
 */
public final class FolderFuzzTarget {
    static final List<String> FILES = List.of(
            "config.json",
            "generation_config.json",
            "tokenizer_config.json",
            "chat_template.json",
            "model.safetensors.index.json");

    private FolderFuzzTarget() {}

    public static void fuzzerTestOneInput(byte[] input) {
        if (input.length == 0) {
            return;
        }
        try {
            Path folder = Files.createTempDirectory("roselle-fuzz");
            Path config = Files.writeString(folder.resolve("config.json"), "{}");
            Path file = folder.resolve(FILES.get(Math.floorMod(input[0], FILES.size())));
            Files.write(file, Arrays.copyOfRange(input, 1, input.length));
            open(folder);
            Files.delete(file);
            Files.deleteIfExists(config);
            Files.delete(folder);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static void open(Path folder) {
        InMemory.opensOrRefuses(() -> {
            try (var checkpoint = Checkpoints.open(folder)) {
                InMemory.readAll(checkpoint.config());
                InMemory.opensOrRefuses(() -> checkpoint.generationConfig().ifPresent(InMemory::readAll));
                InMemory.opensOrRefuses(checkpoint::chatTemplate);
                InMemory.opensOrRefuses(() -> ModelSummary.of(checkpoint));
            }
        });
    }
}
