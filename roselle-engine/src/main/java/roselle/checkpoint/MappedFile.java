package roselle.checkpoint;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/**
 * A file in memory, read-only.
 *
 * @param path where it is
 * @param data all of its bytes
 */
record MappedFile(Path path, MemorySegment data) {
    /** The file as messages name it. */
    String name() {
        return path.toString();
    }
}
