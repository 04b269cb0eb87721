package roselle.server.config;

import java.io.Serial;
import java.nio.file.Path;
import java.util.function.Consumer;

/** Where models come from that a server does not have: a hub that the program knows. */
@FunctionalInterface
public interface ModelSupply {
    /**
     * How far a model has come.
     *
     * @param bytes of what is fetched, all in all
     * @param received of them
     */
    record Progress(long bytes, long received) {}

    /** A model was not to be had; the message says why. */
    final class Unavailable extends RuntimeException {
        @Serial
        private static final long serialVersionUID = 1L;

        public Unavailable(String message, Throwable cause) {
            super(message, cause);
        }
    }

    /**
     * Returns a model's file of GGUF or its folder on this machine, fetched if it was not there.
     *
     * @param name such as {@code org/name} or {@code org/name:Q4_K_M}
     * @param hearing is told how far it is, from several threads
     * @throws roselle.api.InvalidRequestException if that is no name
     * @throws Unavailable if there is no such model, or it cannot be fetched now
     */
    Path fetch(String name, Consumer<Progress> hearing);
}
