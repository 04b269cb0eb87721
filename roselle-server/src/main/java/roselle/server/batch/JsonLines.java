package roselle.server.batch;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** The lines of a file as bytes, one at a time; empty lines are passed over. */
final class JsonLines implements Closeable {
    private final InputStream in;
    private final int longest;
    private final byte[] part = new byte[64 << 10];
    private int at;
    private int end;
    private int number;
    private long begin;
    private long position;

    /** Lines of at most {@code longest} bytes; of a longer one only its beginning is handed out. */
    JsonLines(Path file, int longest) throws IOException {
        in = Files.newInputStream(file);
        this.longest = longest;
    }

    /** The number of the line that was read last, from 1. */
    int number() {
        return number;
    }

    /** Where that line begins in the file. */
    long begin() {
        return begin;
    }

    /** How much of the file has been read, the line's end included. */
    long position() {
        return position;
    }

    /** The next line that has something, without its end; null behind the last. */
    byte @Nullable [] next() throws IOException {
        while (true) {
            byte[] line = line();
            if (line == null || !isBlank(line)) {
                return line;
            }
        }
    }

    private byte @Nullable [] line() throws IOException {
        var line = new ByteArrayOutputStream();
        begin = position;
        int next = read();
        if (next < 0) {
            return null;
        }
        number++;
        for (; next >= 0 && next != '\n'; next = read()) {
            if (line.size() < longest) {
                line.write(next);
            }
        }
        return line.toByteArray();
    }

    private int read() throws IOException {
        if (at == end) {
            end = in.read(part);
            at = 0;
            if (end <= 0) {
                end = 0;
                return -1;
            }
        }
        position++;
        return part[at++];
    }

    private static boolean isBlank(byte[] line) {
        for (byte each : line) {
            if (each != ' ' && each != '\t' && each != '\r') {
                return false;
            }
        }
        return true;
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
