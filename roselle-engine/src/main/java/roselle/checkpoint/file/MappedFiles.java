package roselle.checkpoint.file;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import roselle.api.CheckpointException;

/** The mapped files of one checkpoint and the arena they live in; closing unmaps all of them. */
public final class MappedFiles implements AutoCloseable {
    private final Arena arena = Arena.ofShared();
    private final List<MappedFile> files = new ArrayList<>();

    /** Maps a regular file; costs the same for any size. */
    public MappedFile map(Path path) {
        RegularFile.require(path);
        try (var channel = FileChannel.open(path, StandardOpenOption.READ)) {
            MemorySegment data = channel.map(MapMode.READ_ONLY, 0, channel.size(), arena);
            MappedFile file = new MappedFile(path, data);
            files.add(file);
            return file;
        } catch (IOException e) {
            throw new CheckpointException(path + " cannot be read: " + e.getMessage(), e);
        }
    }

    /** The bytes of all mapped files. */
    public long bytes() {
        return files.stream().mapToLong(file -> file.data().byteSize()).sum();
    }

    /**
     * Fails if a mapped file is now shorter than when it was mapped; its tail would read as a fault.
     *
     * <p>Java survives such a read ({@link InternalError}), native code does not.
     */
    public void checkSizes() {
        for (MappedFile file : files) {
            checkSize(file);
        }
    }

    private static void checkSize(MappedFile file) {
        try {
            long size = Files.size(file.path());
            if (size < file.data().byteSize()) {
                throw new CheckpointException(
                        file.name() + " shrank from " + file.data().byteSize() + " to " + size
                                + " bytes while it was open: restore it and open again");
            }
        } catch (IOException _) {
            // Deleted under the mapping: the bytes stay until it is unmapped, so nothing is lost.
        }
    }

    @Override
    public void close() {
        arena.close();
    }
}
