package roselle.hub.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;

/** Writes some bytes at a file's position; that of a test may be a disk that is full. */
@FunctionalInterface
interface Appender {
    void append(FileChannel file, ByteBuffer bytes) throws IOException;

    /** Writes a text, and returns when the disk has it. */
    default void appendAll(FileChannel file, String text) throws IOException {
        var bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
        while (bytes.hasRemaining()) {
            append(file, bytes);
        }
        file.force(true);
    }
}
