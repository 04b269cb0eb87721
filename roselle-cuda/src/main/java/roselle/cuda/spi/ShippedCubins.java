package roselle.cuda.spi;

import java.io.IOException;
import java.util.Optional;

/**
 * Machine code of kernels that was made when the program was built, so that a start needs no compiler: a service, found on the
 * class path and the module path.
 */
public interface ShippedCubins {
    /**
     * Whether it holds a file.
     *
     * @param name tells the source, the architecture and a hash of all that the machine code depends on
     */
    boolean has(String name);

    /**
     * The content of a file; empty where it holds none of that name.
     *
     * @throws IOException if it cannot be read
     */
    Optional<byte[]> read(String name) throws IOException;
}
