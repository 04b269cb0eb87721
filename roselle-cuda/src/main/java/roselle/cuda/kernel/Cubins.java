package roselle.cuda.kernel;

import java.util.Optional;

/** Where the machine code of kernels comes from. */
@FunctionalInterface
public interface Cubins {
    /** The machine code of a source for an architecture such as {@code sm_90a}. */
    byte[] cubin(KernelSource source, String architecture);

    /**
     * Begins to compile, on all processors, what every model needs and has no machine code yet; {@link #cubin} waits for it.
     *
     * @throws roselle.api.DeviceException if there is no compiler
     */
    default void begin(String architecture) {}

    /**
     * The same, compiled anew, where what {@link #cubin} gave was kept from before; empty where it was not.
     *
     * @throws roselle.api.DeviceException if there is no compiler
     */
    default Optional<byte[]> anew(KernelSource source, String architecture) {
        return Optional.empty();
    }

    /** How many it had to compile so far. */
    default int compiled() {
        return 0;
    }

    /** Why what every model needs cannot be had for an architecture, as a sentence; empty where it can. */
    default Optional<String> missing(String architecture) {
        return Optional.empty();
    }
}
