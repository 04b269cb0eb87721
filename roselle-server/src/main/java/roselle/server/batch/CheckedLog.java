package roselle.server.batch;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import roselle.api.CheckpointException;

/**
 * Records in a file that only grows, a line each, each with its checksum. Thread-safe.
 *
 * <p>What a process that died left half written at the end is cut off when the file is opened: nobody was told of it. A line that
 * is wrong before one that is right is damage, which nothing here mends.
 */
final class CheckedLog implements Closeable {
    private static final int SUM_DIGITS = 8;
    private static final int PREFIX = SUM_DIGITS + 1;

    private final Path file;
    private final FileChannel channel;
    private long end;

    /** Hears of the records that are there. */
    interface Reader {
        /** A record that lies at an offset of the file. */
        void read(byte[] record, long offset);
    }

    private CheckedLog(Path file, FileChannel channel, long end) {
        this.file = file;
        this.channel = channel;
        this.end = end;
    }

    /** Opens a log, or begins one. */
    static CheckedLog open(Path file, Reader reader) throws IOException {
        long sound = Files.exists(file) ? read(file, reader) : 0;
        var channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
        channel.truncate(sound);
        return new CheckedLog(file, channel, sound);
    }

    private static long read(Path file, Reader reader) throws IOException {
        long sound = 0;
        try (var lines = new JsonLines(file, Integer.MAX_VALUE - PREFIX)) {
            long size = Files.size(file);
            for (byte[] line = lines.next(); line != null; line = lines.next()) {
                byte[] record = record(line);
                boolean isWhole = record != null && lines.position() == lines.begin() + line.length + 1;
                if (isWhole && lines.begin() != sound) {
                    throw new CheckpointException(file.getFileName() + " is damaged at byte " + sound
                            + ": restore it, or move it away and begin anew");
                }
                if (isWhole && record != null && lines.position() <= size) {
                    reader.read(record, lines.begin() + PREFIX);
                    sound = lines.position();
                }
            }
        }
        return sound;
    }

    private static byte @Nullable [] record(byte[] line) {
        if (line.length <= PREFIX || line[SUM_DIGITS] != ' ') {
            return null;
        }
        byte[] record = Arrays.copyOfRange(line, PREFIX, line.length);
        return new String(line, 0, SUM_DIGITS, StandardCharsets.US_ASCII).equals(sum(record)) ? record : null;
    }

    private static String sum(byte[] record) {
        var sum = new CRC32C();
        sum.update(record);
        return HexFormat.of().toHexDigits((int) sum.getValue());
    }

    /** Adds a record, which has no line break; returns where it lies. What cannot be written whole is not there. */
    synchronized long append(byte[] record) {
        var line = ByteBuffer.allocate(PREFIX + record.length + 1);
        line.put(sum(record).getBytes(StandardCharsets.US_ASCII))
                .put((byte) ' ')
                .put(record)
                .put((byte) '\n')
                .flip();
        long begin = end;
        try {
            for (long at = begin; line.hasRemaining(); ) {
                at += channel.write(line, at);
            }
            end += line.limit();
            return begin + PREFIX;
        } catch (IOException failure) {
            cut(begin);
            throw new UncheckedIOException("cannot write " + file.getFileName() + ": " + failure.getMessage(), failure);
        }
    }

    private void cut(long length) {
        try {
            channel.truncate(length);
        } catch (IOException worse) {
            throw new UncheckedIOException(worse);
        }
    }

    /** The bytes of a record that was read or added. */
    byte[] read(long offset, int length) throws IOException {
        var record = ByteBuffer.allocate(length);
        while (record.hasRemaining()) {
            if (channel.read(record, offset + record.position()) < 0) {
                throw new IOException(file.getFileName() + " has become shorter");
            }
        }
        return record.array();
    }

    /** Waits until everything is on the disk. */
    void force() {
        try {
            channel.force(true);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
