package roselle.checkpoint.gguf;

import roselle.checkpoint.InMemory;
import roselle.checkpoint.file.MappedFile;

/**
 * Reads any bytes as a GGUF file: header, every metadata value, every tensor, the vocabulary.
 *
 * <p>For Jazzer: {@code jazzer --cp=... --target_class=roselle.checkpoint.gguf.GgufFuzzTarget}.
 */
public final class GgufFuzzTarget {
    private GgufFuzzTarget() {}

    public static void fuzzerTestOneInput(byte[] input) {
        InMemory.opensOrRefuses(() -> {
            GgufInMemory.read(input);
            MappedFile file = InMemory.file(input);
            var metadata = new GgufMetadata(file, GgufHeaderReader.read(file).metadata());
            InMemory.opensOrRefuses(() -> GgufTokenizerKeys.vocabulary(metadata));
        });
    }
}
