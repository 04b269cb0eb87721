package roselle.quantization.encoding;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Writes tensors to their places in a file. Threads share the rows of one that is encoded; what they made is written in the order of the
 * rows, so that their number changes no bit.
 */
public final class TensorWriter implements AutoCloseable {
    private static final long PIECE = 1 << 18; // numbers that a thread encodes at a time
    private static final int PIECES = 8; // of each thread, before they are written

    private final FileChannel channel;
    private final ExecutorService workers;
    private final int threads;

    /** Makes of some rows what is stored of them; on any thread. */
    @FunctionalInterface
    public interface RowsEncoder<T> {
        T encode(long first, int rows);
    }

    /** Takes it, in the order of the rows. */
    @FunctionalInterface
    public interface Taker<T> {
        void take(T encoded) throws IOException;
    }

    /** Opens a file, which is made where there is none. */
    public TensorWriter(Path file, int threads, OpenOption... more) throws IOException {
        Set<OpenOption> options = new HashSet<>(List.of(more));
        options.add(StandardOpenOption.CREATE);
        options.add(StandardOpenOption.WRITE);
        channel = FileChannel.open(file, options);
        workers = Executors.newFixedThreadPool(threads);
        this.threads = threads;
    }

    /** Bytes that the file has. */
    public long size() throws IOException {
        return channel.size();
    }

    /** Writes all bytes. */
    public void write(long at, ByteBuffer bytes) throws IOException {
        long position = at;
        while (bytes.hasRemaining()) {
            position += channel.write(bytes, position);
        }
    }

    /** Writes a tensor as it lies in memory. */
    public void copy(long at, MemorySegment data) throws IOException {
        long size = data.byteSize();
        for (long from = 0; from < size; from += Integer.MAX_VALUE) {
            long count = Math.min(Integer.MAX_VALUE, size - from);
            write(at + from, data.asSlice(from, count).asByteBuffer());
        }
    }

    /**
     * Encodes a matrix by pieces of whole rows.
     *
     * @param rowsOfUnit pieces but the last have a multiple of so many rows
     * @throws IOException if a write fails, or the thread is interrupted
     */
    public <T> void encode(long rows, long columns, int rowsOfUnit, RowsEncoder<T> encoder, Taker<T> taker)
            throws IOException {
        long units = Math.max(1, PIECE / columns / rowsOfUnit);
        int piece = Math.toIntExact(units * rowsOfUnit);
        long batch = (long) piece * threads * PIECES;
        for (long first = 0; first < rows; first += batch) {
            var pieces = new ArrayList<Callable<T>>();
            for (long row = first; row < Math.min(rows, first + batch); row += piece) {
                long from = row;
                int count = (int) Math.min(piece, rows - row);
                pieces.add(() -> encoder.encode(from, count));
            }
            for (T encoded : all(pieces)) {
                taker.take(encoded);
            }
        }
    }

    private <T> List<T> all(List<Callable<T>> pieces) throws IOException {
        try {
            var all = new ArrayList<T>();
            for (Future<T> piece : workers.invokeAll(pieces)) {
                all.add(piece.get());
            }
            return all;
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new IOException("stopped; the same again goes on from there", stopped);
        } catch (ExecutionException failed) {
            if (failed.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new IllegalStateException(failed.getCause());
        }
    }

    /** Has all that was written reach the disk. */
    public void force() throws IOException {
        channel.force(true);
    }

    @Override
    public void close() throws IOException {
        workers.close();
        channel.close();
    }
}
