package roselle.hub.cache;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.UUID;

/** A small file that others see whole, old or new, whatever fails while it is written. */
final class WholeFile {
    private final Path path;
    private final Writer writer;

    /** Writes some of the bytes at the end of a file. */
    interface Writer {
        void write(FileChannel file, ByteBuffer bytes) throws IOException;
    }

    WholeFile(Path path) {
        this(path, FileChannel::write);
    }

    /** A file whose writes a test may let fail. */
    WholeFile(Path path, Writer writer) {
        this.path = path;
        this.writer = writer;
    }

    /**
     * Gives it another content.
     *
     * @throws IOException if it could not; the file is then as it was, and the message names it
     */
    void write(String text) throws IOException {
        Path fresh = path.resolveSibling(
                path.getFileName() + "." + UUID.randomUUID().toString().substring(0, 8) + ".tmp");
        try {
            write(fresh, ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
            Files.move(fresh, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException failed) {
            throw new IOException(path + " cannot be written, and is as it was: " + failed.getMessage(), failed);
        } finally {
            Files.deleteIfExists(fresh);
        }
    }

    private void write(Path fresh, ByteBuffer bytes) throws IOException {
        try (var file = FileChannel.open(fresh, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            while (bytes.hasRemaining()) {
                writer.write(file, bytes);
            }
            file.force(true);
        }
    }
}
