package roselle.checkpoint.file;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/**
 * A file in memory, read-only.
 *
 * @param path where it is
 * @param data all of its bytes
 */
public record MappedFile(Path path, MemorySegment data) {
    /** The file as messages name it. */
    public String name() {
        return path.toString();
    }
}
