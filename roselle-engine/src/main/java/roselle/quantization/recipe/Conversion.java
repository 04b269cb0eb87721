package roselle.quantization.recipe;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;
import roselle.api.CheckpointException;
import roselle.checkpoint.gguf.GgufHeaderWriter;
import roselle.quantization.encoding.Encoder;
import roselle.tensor.DataType;

/**
 * Writes a planned model: to a file beside the wanted one, {@code .part}, which gets its name when it is whole.
 *
 * <p>Tensors are written one after the other, so that the length of a part tells what is done: a conversion that was stopped goes
 * on with the tensor at which it stopped. A second file beside it, {@code .part.of}, says what the part is made from and of; a part of
 * anything else is begun anew. Threads share the rows of a tensor; their number changes no bit.
 */
public final class Conversion {
    private static final int PIECE = 1 << 18; // numbers that a thread encodes at a time
    private static final int PIECES = 8; // of each thread, before they are written

    private final ConversionPlan plan;
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
        void begin(int index, PlannedTensor tensor, boolean isDone);
    }

    public Conversion(ConversionPlan plan, Path target, int threads) {
        this.plan = plan;
        this.target = target;
        this.threads = threads;
    }

    /** Writes the file. */
    public void run(Progress progress) throws IOException {
        byte[] header = plan.header();
        Path part = beside(".part");
        Path mark = beside(".part.of");
        byte[] origin = origin(header);
        boolean goesOn = Files.exists(part) && Files.exists(mark) && Arrays.equals(Files.readAllBytes(mark), origin);
        if (!goesOn) {
            Files.deleteIfExists(part);
            Files.write(mark, origin);
        }
        try (var channel = FileChannel.open(part, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                ExecutorService workers = Executors.newFixedThreadPool(threads)) {
            if (channel.size() < header.length) {
                write(channel, 0, header);
            }
            writeTensors(channel, header.length, workers, progress);
            channel.force(true);
        }
        plan.source().checkFiles();
        Files.move(part, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        Files.delete(mark);
    }

    private Path beside(String ending) {
        return target.resolveSibling(target.getFileName() + ending);
    }

    /** What the result depends on, the numbers aside: the source and its time, columns that matter, and the header with all types. */
    private byte[] origin(byte[] header) throws IOException {
        Path source = plan.source().source();
        StringBuilder text = new StringBuilder()
                .append(source.toAbsolutePath())
                .append(' ')
                .append(Files.getLastModifiedTime(source).toMillis())
                .append(' ')
                .append(plan.source().bytes())
                .append(' ')
                .append(Arrays.hashCode(header));
        for (PlannedTensor tensor : plan.tensors()) {
            plan.importanceOf(tensor).ifPresent(importance -> text.append(' ').append(Arrays.hashCode(importance)));
        }
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    private void writeTensors(FileChannel channel, long start, ExecutorService workers, Progress progress)
            throws IOException {
        long done = channel.size();
        long at = start;
        for (int i = 0; i < plan.tensors().size(); i++) {
            PlannedTensor tensor = plan.tensors().get(i);
            long end = at + GgufHeaderWriter.padded(tensor.bytes());
            progress.begin(i, tensor, done >= end);
            if (done < end) {
                write(channel, at, tensor, workers);
                write(channel, at + tensor.bytes(), new byte[Math.toIntExact(end - at - tensor.bytes())]);
            }
            at = end;
        }
    }

    private void write(FileChannel channel, long at, PlannedTensor tensor, ExecutorService workers) throws IOException {
        if (tensor.isCopied()) {
            long size = tensor.bytes();
            for (long from = 0; from < size; from += Integer.MAX_VALUE) {
                long count = Math.min(Integer.MAX_VALUE, size - from);
                ByteBuffer bytes =
                        tensor.source().codes().data().asSlice(from, count).asByteBuffer();
                write(channel, at + from, bytes);
            }
            return;
        }
        long rows = tensor.shape().rows();
        int piece = Math.toIntExact(Math.clamp(PIECE / tensor.shape().columns(), 1, rows));
        long rowBytes = tensor.type().rowBytes(tensor.shape().columns());
        float @Nullable [] importance = plan.importanceOf(tensor).orElse(null);
        long batch = (long) piece * threads * PIECES;
        for (long first = 0; first < rows; first += batch) {
            var pieces = new ArrayList<Callable<byte[]>>();
            for (long row = first; row < Math.min(rows, first + batch); row += piece) {
                long from = row;
                int count = (int) Math.min(piece, rows - row);
                pieces.add(() -> encode(tensor, from, count, importance));
            }
            long position = at + first * rowBytes;
            for (byte[] encoded : encoded(pieces, workers)) {
                write(channel, position, encoded);
                position += encoded.length;
            }
        }
    }

    private static List<byte[]> encoded(List<Callable<byte[]>> pieces, ExecutorService workers) throws IOException {
        try {
            var all = new ArrayList<byte[]>();
            for (var piece : workers.invokeAll(pieces)) {
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

    private static byte[] encode(PlannedTensor tensor, long first, int rows, float @Nullable [] importance) {
        int columns = Math.toIntExact(tensor.shape().columns());
        DataType stored = tensor.source().codes().type();
        var numbers = new float[columns];
        long sourceRow = stored.rowBytes(columns);
        int rowBytes = Math.toIntExact(tensor.type().rowBytes(columns));
        var target = new byte[rows * rowBytes];
        Encoder encoder = Encoder.of(tensor.type()).orElseThrow();
        var dequantizer = tensor.source().dequantizer();
        long perMatrix = tensor.shape().rows() / ConversionPlan.matricesOf(tensor.shape());
        for (int i = 0; i < rows; i++) {
            long row = first + i;
            long at = tensor.order().applyAsLong(row) * sourceRow;
            dequantizer.dequantize(tensor.source().codes().data(), at, numbers, 0, columns);
            requireFinite(tensor, row, numbers);
            encoder.encode(numbers, ofMatrix(importance, row / perMatrix, columns), target, i * rowBytes);
        }
        return target;
    }

    private static float @Nullable [] ofMatrix(float @Nullable [] importance, long matrix, int columns) {
        if (importance == null || importance.length == columns) {
            return importance;
        }
        int from = Math.toIntExact(matrix * columns);
        return Arrays.copyOfRange(importance, from, from + columns);
    }

    private static void requireFinite(PlannedTensor tensor, long row, float[] numbers) {
        for (int column = 0; column < numbers.length; column++) {
            if (!Float.isFinite(numbers[column])) {
                throw new CheckpointException("tensor " + tensor.name() + " has the number " + numbers[column]
                        + " in row " + row + ", column " + column + "; only finite numbers can be converted");
            }
        }
    }

    private static void write(FileChannel channel, long at, byte[] bytes) throws IOException {
        write(channel, at, ByteBuffer.wrap(bytes));
    }

    private static void write(FileChannel channel, long at, ByteBuffer bytes) throws IOException {
        long position = at;
        while (bytes.hasRemaining()) {
            position += channel.write(bytes, position);
        }
    }
}
