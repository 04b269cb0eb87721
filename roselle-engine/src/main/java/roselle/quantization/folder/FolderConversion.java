package roselle.quantization.folder;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import roselle.tensor.Tensor;

/**
 * Writes a planned folder: its files of tensors under the names that they have in the source, and what lies beside them.
 *
 * <p>Each file is written beside its name, {@code .part}, and gets it when it is whole; its header says what it was made from and of.
 * A conversion that was stopped goes on with the first file that is not whole. The configuration comes last: a folder without it is no
 * model yet. Threads share the rows of a tensor; their number changes no bit.
 */
public final class FolderConversion {
    private static final int PIECE = 1 << 18; // numbers that a thread encodes at a time
    private static final int PIECES = 4; // of each thread, before they are written

    private final FolderPlan plan;
    private final Path target;
    private final int threads;

    /** Told of each tensor when it is begun. */
    @FunctionalInterface
    public interface Progress {
        /**
         * A tensor is begun, or found to be done.
         *
         * @param index of the tensor, from 0
         */
        void begin(int index, FolderTensor tensor, boolean isDone);
    }

    public FolderConversion(FolderPlan plan, Path target, int threads) {
        this.plan = plan;
        this.target = target;
        this.threads = threads;
    }

    /**
     * Writes the folder.
     *
     * @throws roselle.api.CheckpointException where the folder has files of another model, or a number is not finite
     */
    public void run(Progress progress) throws IOException {
        var beside = new FilesBeside(plan, target);
        beside.requireFree();
        Files.createDirectories(target);
        int index = 0;
        try (ExecutorService workers = Executors.newFixedThreadPool(threads)) {
            for (Map.Entry<String, Shard> entry : shards().entrySet()) {
                Shard shard = entry.getValue();
                Path file = target.resolve(entry.getKey());
                boolean isDone = shard.isWhole(file);
                if (isDone) {
                    for (FolderTensor tensor : shard.tensors()) {
                        progress.begin(index++, tensor, true);
                    }
                } else {
                    beside.forgetConfiguration();
                    index = write(shard, file, workers, progress, index);
                }
            }
        }
        beside.write();
    }

    private SequencedMap<String, Shard> shards() throws IOException {
        var shards = new LinkedHashMap<String, Shard>();
        for (Map.Entry<String, List<FolderTensor>> entry : plan.shards().entrySet()) {
            Path source = plan.source().source().resolve(entry.getKey());
            String recipe = plan.type() + " of " + Files.size(source) + " bytes, of "
                    + Files.getLastModifiedTime(source).toMillis();
            shards.put(entry.getKey(), new Shard(entry.getValue(), recipe));
        }
        return shards;
    }

    private int write(Shard shard, Path file, ExecutorService workers, Progress progress, int first)
            throws IOException {
        int index = first;
        Path part = file.resolveSibling(file.getFileName() + FilesBeside.PART);
        try (var channel = FileChannel.open(
                part, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
            write(channel, 0, ByteBuffer.wrap(shard.header()));
            for (FolderTensor tensor : shard.tensors()) {
                progress.begin(index++, tensor, false);
                if (tensor.isQuantized()) {
                    encode(channel, shard, tensor, workers);
                } else {
                    copy(channel, shard.place(tensor.stored().getFirst()), tensor.source());
                }
            }
            channel.force(true);
        }
        plan.source().checkFiles();
        Files.move(part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        return index;
    }

    private static void copy(FileChannel channel, long at, Tensor tensor) throws IOException {
        long size = tensor.data().byteSize();
        for (long from = 0; from < size; from += Integer.MAX_VALUE) {
            long count = Math.min(Integer.MAX_VALUE, size - from);
            write(channel, at + from, tensor.data().asSlice(from, count).asByteBuffer());
        }
    }

    private void encode(FileChannel channel, Shard shard, FolderTensor tensor, ExecutorService workers)
            throws IOException {
        var encoder = new RowEncoder(plan.type(), tensor.source());
        long rows = tensor.source().shape().rows();
        int piece = encoder.rowsOf(PIECE);
        long codesAt = shard.place(tensor.stored().get(0));
        long scalesAt = shard.place(tensor.stored().get(1));
        long batch = (long) piece * threads * PIECES;
        for (long first = 0; first < rows; first += batch) {
            var pieces = new ArrayList<Callable<RowEncoder.Rows>>();
            for (long row = first; row < Math.min(rows, first + batch); row += piece) {
                long from = row;
                int count = (int) Math.min(piece, rows - row);
                pieces.add(() -> encoder.encode(from, count));
            }
            for (RowEncoder.Rows encoded : encoded(pieces, workers)) {
                write(channel, codesAt, encoded.codes());
                write(channel, scalesAt, encoded.scales());
                codesAt += encoded.codes().limit();
                scalesAt += encoded.scales().limit();
            }
        }
        if (tensor.stored().size() > 2) {
            write(channel, shard.place(tensor.stored().get(2)), extents(tensor.source()));
        }
    }

    private static ByteBuffer extents(Tensor matrix) {
        return ByteBuffer.allocate(2 * Long.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(matrix.shape().rows())
                .putLong(matrix.shape().columns())
                .flip();
    }

    private static List<RowEncoder.Rows> encoded(List<Callable<RowEncoder.Rows>> pieces, ExecutorService workers)
            throws IOException {
        try {
            var all = new ArrayList<RowEncoder.Rows>();
            for (Future<RowEncoder.Rows> piece : workers.invokeAll(pieces)) {
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

    private static void write(FileChannel channel, long at, ByteBuffer bytes) throws IOException {
        long position = at;
        while (bytes.hasRemaining()) {
            position += channel.write(bytes, position);
        }
    }
}
