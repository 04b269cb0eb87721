package roselle.cli.serve;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A file of lines that grows by whole ones: what cannot be written as a whole, for want of space, is taken back. One program adds at a
 * time; others wait.
 */
final class LineFile {
    private final Path path;
    private final Writer writer;

    /** Writes some of the bytes at the end of a file. */
    interface Writer {
        void write(FileChannel file, ByteBuffer bytes) throws IOException;
    }

    LineFile(Path path) {
        this(path, FileChannel::write);
    }

    /** A file whose writes a test may let fail. */
    LineFile(Path path, Writer writer) {
        this.path = path;
        this.writer = writer;
    }

    /**
     * Adds a line, behind the end of a line that has none.
     *
     * @throws IOException if it could not; the file is then as it was, and the message names it
     */
    void add(String line) throws IOException {
        try (var file = FileChannel.open(
                        path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
                var _ = file.lock()) {
            long before = file.size();
            try {
                file.position(before);
                write(file, (isWithinALine(file, before) ? "\n" : "") + line + "\n");
                file.force(true);
            } catch (IOException failed) {
                file.truncate(before);
                throw new IOException(path + " cannot be written, and is as it was: " + failed.getMessage(), failed);
            }
        }
    }

    private void write(FileChannel file, String text) throws IOException {
        var bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
        while (bytes.hasRemaining()) {
            writer.write(file, bytes);
        }
    }

    private static boolean isWithinALine(FileChannel file, long size) throws IOException {
        var last = ByteBuffer.allocate(1);
        return size > 0 && file.read(last, size - 1) == 1 && last.get(0) != '\n';
    }
}
