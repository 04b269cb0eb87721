package roselle.checkpoint.huggingface;

import roselle.checkpoint.InMemory;

/**
 * Reads any bytes as a safetensors file.
 *
 * <p>For Jazzer: {@code jazzer --cp=... --target_class=roselle.checkpoint.huggingface.SafetensorsFuzzTarget}.
 */
public final class SafetensorsFuzzTarget {
    private SafetensorsFuzzTarget() {}

    public static void fuzzerTestOneInput(byte[] input) {
        InMemory.opensOrRefuses(() -> SafetensorsInMemory.read(input));
    }
}
