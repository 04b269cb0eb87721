package roselle.hub.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A file of lines that grows by whole ones: what cannot be written as a whole, for want of space, is taken back. One program adds at a
 * time; others wait.
 */
public final class LineFile {
    private final Path path;
    private final Appender appender;

    public LineFile(Path path) {
        this(path, FileChannel::write);
    }

    LineFile(Path path, Appender appender) {
        this.path = path;
        this.appender = appender;
    }

    /**
     * Adds a line, behind the end of a line that has none.
     *
     * @throws IOException if it could not; the file is then as it was, and the message names it
     */
    public void add(String line) throws IOException {
        try (var file = FileChannel.open(
                        path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
                var _ = file.lock()) {
            long before = file.size();
            try {
                file.position(before);
                appender.appendAll(file, (isWithinALine(file, before) ? "\n" : "") + line + "\n");
            } catch (IOException failed) {
                file.truncate(before);
                throw new IOException(path + " cannot be written, and is as it was: " + failed.getMessage(), failed);
            }
        }
    }

    private static boolean isWithinALine(FileChannel file, long size) throws IOException {
        var last = ByteBuffer.allocate(1);
        return size > 0 && file.read(last, size - 1) == 1 && last.get(0) != '\n';
    }
}
