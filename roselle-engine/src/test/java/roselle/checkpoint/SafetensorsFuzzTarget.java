package roselle.checkpoint;

/**
 * Reads any bytes as a safetensors file.
 *
 * <p>For Jazzer: {@code jazzer --cp=... --target_class=roselle.checkpoint.SafetensorsFuzzTarget}.
 */
public final class SafetensorsFuzzTarget {
    private SafetensorsFuzzTarget() {}

    public static void fuzzerTestOneInput(byte[] input) {
        InMemory.opensOrRefuses(() -> InMemory.readSafetensors(input));
    }
}
