package roselle.quantization.recipe;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import roselle.api.CheckpointException;
import roselle.checkpoint.gguf.GgufHeaderWriter;
import roselle.quantization.encoding.Encoder;
import roselle.quantization.encoding.TensorWriter;
import roselle.tensor.DataType;

/**
 * Writes a planned model: to a file beside the wanted one, {@code .part}, which gets its name when it is whole.
 *
 * <p>Tensors are written one after the other, so that the length of a part tells what is done: a conversion that was stopped goes
 * on with the tensor at which it stopped. A second file beside it, {@code .part.of}, says what the part is made from and of; a part of
 * anything else is begun anew. Threads share the rows of a tensor; their number changes no bit.
 */
public final class Conversion {
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
        try (var writer = new TensorWriter(part, threads)) {
            if (writer.size() < header.length) {
                writer.write(0, ByteBuffer.wrap(header));
            }
            writeTensors(writer, header.length, progress);
            writer.force();
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

    private void writeTensors(TensorWriter writer, long start, Progress progress) throws IOException {
        long done = writer.size();
        long at = start;
        for (int i = 0; i < plan.tensors().size(); i++) {
            PlannedTensor tensor = plan.tensors().get(i);
            long end = at + GgufHeaderWriter.padded(tensor.bytes());
            progress.begin(i, tensor, done >= end);
            if (done < end) {
                write(writer, at, tensor);
                writer.write(at + tensor.bytes(), ByteBuffer.allocate(Math.toIntExact(end - at - tensor.bytes())));
            }
            at = end;
        }
    }

    private void write(TensorWriter writer, long at, PlannedTensor tensor) throws IOException {
        if (tensor.isCopied()) {
            writer.copy(at, tensor.source().codes().data());
            return;
        }
        float @Nullable [] importance = plan.importanceOf(tensor).orElse(null);
        var place = new Object() {
            long next = at;
        };
        writer.encode(
                tensor.shape().rows(),
                tensor.shape().columns(),
                1,
                (first, rows) -> encode(tensor, first, rows, importance),
                encoded -> {
                    long here = place.next;
                    place.next += encoded.length;
                    writer.write(here, ByteBuffer.wrap(encoded));
                });
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
}
