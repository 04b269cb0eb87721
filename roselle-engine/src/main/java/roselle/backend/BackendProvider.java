package roselle.backend;

import java.util.Optional;

/** Opens the devices of one kind; the engine finds providers on the module path. */
public interface BackendProvider {
    /** What a device's name begins with: {@code cuda} of {@code cuda:1}. */
    String kind();

    /** Why this machine has no device of this kind, as a sentence; empty where it has one. */
    Optional<String> unavailable();

    /** Why the first device that is there cannot be used as things stand, as a sentence; empty where it can. */
    default Optional<String> unusable() {
        return Optional.empty();
    }

    /**
     * Opens a device.
     *
     * @param index which one, from 0
     * @param compute the type of the rows between operations: {@code f32}, {@code bf16}, {@code f16}, or {@code auto}
     * @throws roselle.api.DeviceException if it cannot be used
     */
    Backend open(int index, String compute);
}
