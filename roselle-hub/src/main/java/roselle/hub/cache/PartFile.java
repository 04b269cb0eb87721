package roselle.hub.cache;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;

/**
 * A file under way: its bytes, and behind them how much of each piece is there, so that it can be gone on with after a kill.
 *
 * <p>Layout: {@code size} bytes of the file, of which some are still holes; then, as 8-byte numbers, a mark, the size, the size
 * of a piece, and for each piece how many bytes from its beginning are there. A count is written after the bytes it counts. The
 * name ends in {@code .incomplete}, by which Python's tools know what may be thrown away, but is our own: huggingface_hub takes
 * the length of its own incomplete files for what is there.
 */
public final class PartFile implements AutoCloseable {
    private static final long MARK = 0x524f53454c4c4531L; // ROSELLE1
    private static final int HEADER_NUMBERS = 3;

    private final FileChannel channel;
    private final Path path;
    private final long size;
    private final long pieceBytes;
    private final long[] present; // [pieces], each written by one thread at a time

    private PartFile(FileChannel channel, Path path, long size, long pieceBytes) {
        this.channel = channel;
        this.path = path;
        this.size = size;
        this.pieceBytes = pieceBytes;
        this.present = new long[Math.toIntExact(Math.max(1, (size + pieceBytes - 1) / pieceBytes))];
    }

    /** The name of a blob's part. */
    public static Path of(Path blob) {
        return blob.resolveSibling(blob.getFileName() + ".roselle.incomplete");
    }

    /** Opens what an earlier download left, or begins anew where that is of no use. */
    public static PartFile open(Path path, long size, long pieceBytes) throws IOException {
        FileChannel channel =
                FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
        try {
            var part = new PartFile(channel, path, size, pieceBytes);
            if (!part.load()) {
                part.reset();
            }
            return part;
        } catch (IOException | RuntimeException failed) {
            channel.close();
            throw failed;
        }
    }

    /** The bytes that an earlier download left in a part; 0 where it is of no use. */
    public static long presentIn(Path path, long size, long pieceBytes) throws IOException {
        try (var channel = FileChannel.open(path, StandardOpenOption.READ);
                var part = new PartFile(channel, path, size, pieceBytes)) {
            return part.load() ? part.bytesPresent() : 0;
        }
    }

    public int pieces() {
        return present.length;
    }

    public long from(int piece) {
        return piece * pieceBytes;
    }

    public long to(int piece) {
        return Math.min(size, from(piece) + pieceBytes);
    }

    /** The first byte of a piece that is missing. */
    public long next(int piece) {
        return from(piece) + present[piece];
    }

    public boolean hasAll(int piece) {
        return next(piece) == to(piece);
    }

    public long bytesPresent() {
        long sum = 0;
        for (long count : present) {
            sum += count;
        }
        return sum;
    }

    /** Puts bytes at a piece's {@link #next}. */
    public void append(int piece, ByteBuffer bytes) throws IOException {
        int length = bytes.remaining();
        write(bytes, next(piece));
        present[piece] += length;
        write(number(present[piece]), countPosition(piece));
    }

    /** Forgets everything. */
    public void reset() throws IOException {
        channel.truncate(0);
        Arrays.fill(present, 0);
        ByteBuffer trailer = ByteBuffer.allocate(Math.toIntExact(trailerBytes()));
        trailer.putLong(MARK).putLong(size).putLong(pieceBytes).clear();
        write(trailer, size);
    }

    private boolean load() throws IOException {
        if (channel.size() != size + trailerBytes()) {
            return false;
        }
        ByteBuffer trailer = ByteBuffer.allocate(Math.toIntExact(trailerBytes()));
        while (trailer.hasRemaining() && channel.read(trailer, size + trailer.position()) >= 0) {}
        trailer.flip();
        if (trailer.remaining() != trailerBytes()
                || trailer.getLong() != MARK
                || trailer.getLong() != size
                || trailer.getLong() != pieceBytes) {
            return false;
        }
        for (int piece = 0; piece < present.length; piece++) {
            present[piece] = Math.clamp(trailer.getLong(), 0, to(piece) - from(piece));
        }
        return true;
    }

    /** Makes the part the blob: the bytes alone, on the disk before they have the name. The part is closed. */
    public void becomes(Path blob) throws IOException {
        channel.truncate(size);
        channel.force(true);
        channel.close();
        Files.move(path, blob, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    public void discard() throws IOException {
        channel.close();
        Files.deleteIfExists(path);
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    private long trailerBytes() {
        return Long.BYTES * ((long) HEADER_NUMBERS + present.length);
    }

    private long countPosition(int piece) {
        return size + Long.BYTES * ((long) HEADER_NUMBERS + piece);
    }

    private static ByteBuffer number(long value) {
        return ByteBuffer.allocate(Long.BYTES).putLong(value).flip();
    }

    private void write(ByteBuffer bytes, long position) throws IOException {
        long at = position;
        while (bytes.hasRemaining()) {
            at += channel.write(bytes, at);
        }
    }
}
