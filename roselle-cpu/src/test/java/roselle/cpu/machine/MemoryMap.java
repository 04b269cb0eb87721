package roselle.cpu.machine;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What the system says of this process's memory. */
public final class MemoryMap {
    private MemoryMap() {}

    /** The line of the mapping that begins at an address, in hexadecimal digits. */
    public static String lineOf(String address) {
        try (var lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.startsWith(address)).findFirst().orElse("");
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
