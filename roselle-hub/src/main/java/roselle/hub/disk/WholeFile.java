package roselle.hub.disk;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.UUID;

/** A small file that others see whole, old or new, whatever fails while it is written. */
public final class WholeFile {
    private final Path path;
    private final Appender appender;

    public WholeFile(Path path) {
        this(path, FileChannel::write);
    }

    WholeFile(Path path, Appender appender) {
        this.path = path;
        this.appender = appender;
    }

    /**
     * Gives it another content; where it is a link, the file that this leads to.
     *
     * @throws IOException if it could not; the file is then as it was, and the message names it
     */
    public void write(String text) throws IOException {
        Path target = Files.exists(path) ? path.toRealPath() : path;
        if (Files.exists(target) && !Files.isRegularFile(target)) {
            throw new IOException(path + " cannot be written: it is no plain file");
        }
        Path fresh = target.resolveSibling(
                target.getFileName() + "." + UUID.randomUUID().toString().substring(0, 8) + ".tmp");
        try {
            write(fresh, text);
            Files.move(fresh, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException failed) {
            throw new IOException(path + " cannot be written, and is as it was: " + failed.getMessage(), failed);
        } finally {
            Files.deleteIfExists(fresh);
        }
    }

    private void write(Path fresh, String text) throws IOException {
        try (var file = FileChannel.open(fresh, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            appender.appendAll(file, text);
        }
    }
}
