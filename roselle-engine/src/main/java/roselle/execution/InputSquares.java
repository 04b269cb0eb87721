package roselle.execution;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntConsumer;
import roselle.api.CheckpointException;
import roselle.backend.Device;
import roselle.backend.memory.Rows;
import roselle.backend.memory.Weight;
import roselle.backend.operation.Routing;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.gguf.GgufHeaderWriter;
import roselle.checkpoint.path.Checkpoints;
import roselle.model.architecture.Architectures;
import roselle.quantization.StoredMatrix;
import roselle.tensor.DataType;
import roselle.tensor.Shape;

/**
 * The squares of what a model's matrices are multiplied with, summed over a text: an importance matrix in llama.cpp's form, from the
 * operations of the engine itself.
 *
 * <p>Matrices that are multiplied together, as those of queries, keys and values are, have the same inputs. An expert counts the rows
 * that came to it.
 */
public final class InputSquares {
    private static final int ROWS = 128; // of a step

    private final Device device;
    private final IdentityHashMap<Weight, List<String>> names = new IdentityHashMap<>();
    private final Map<String, Sums> sums = new TreeMap<>();

    /** Of the matrices of a stack. */
    private static final class Sums {
        final float[] squares; // [matrices, columns]
        final float[] counts; // [matrices] rows

        Sums(int matrices, int columns) {
            squares = new float[matrices * columns];
            counts = new float[matrices];
        }
    }

    private InputSquares(Device device) {
        this.device = device;
    }

    /**
     * Sums up the windows of a text, and writes the file.
     *
     * @param device one whose operations end before they return: a CPU
     * @param dataset what the text is called in the file
     * @param done hears how many windows were read
     */
    public static int write(
            Path model, Device device, List<int[]> windows, String dataset, Path target, IntConsumer done)
            throws IOException {
        var squares = new InputSquares(device);
        int context = windows.getFirst().length;
        var recording = new RecordingDevice(device, squares::loaded, new RecordingDevice.Inputs() {
            @Override
            public void of(Weight weight, Rows input, int rows) {
                squares.add(weight, input, rows);
            }

            @Override
            public void ofExperts(Weight weight, Rows input, boolean isSpread, Routing routing, int rows) {
                squares.add(weight, input, isSpread, routing, rows);
            }
        });
        try (Checkpoint checkpoint = Checkpoints.open(model)) {
            if (checkpoint.format() != Checkpoint.Format.GGUF) {
                throw new CheckpointException(
                        model + " is no GGUF; what matters is written down by the names of GGUF, convert it first");
            }
            try (var sequence = SingleSequence.open(
                    checkpoint, Architectures.read(checkpoint), recording, Math.min(ROWS, context), context)) {
                for (int i = 0; i < windows.size(); i++) {
                    sequence.restart();
                    sequence.logits(windows.get(i), Math.min(ROWS, context));
                    done.accept(i + 1);
                }
            }
        }
        Files.write(target, squares.toBytes(dataset, windows.size(), context));
        return squares.sums.size();
    }

    private void loaded(Weight weight, List<StoredMatrix> blocks) {
        var all = new ArrayList<String>();
        for (StoredMatrix block : blocks) {
            if (!all.contains(block.name())) {
                all.add(block.name());
            }
        }
        names.put(weight, all);
    }

    private void add(Weight weight, Rows input, int rows) {
        float[] numbers = read(input, rows);
        for (String name : names.getOrDefault(weight, List.of())) {
            Sums of = sums.computeIfAbsent(name, _ -> new Sums(1, input.columns()));
            for (int row = 0; row < rows; row++) {
                add(of, 0, numbers, row * input.columns(), input.columns());
            }
        }
    }

    private void add(Weight weight, Rows input, boolean isSpread, Routing routing, int rows) {
        float[] numbers = read(input, isSpread ? rows * routing.chosen() : rows);
        float[] chosen = read(Rows.of(routing.experts(), routing.chosen()), rows); // the bits of int32
        for (String name : names.getOrDefault(weight, List.of())) {
            Sums of = sums.computeIfAbsent(name, _ -> new Sums(weight.matrices(), input.columns()));
            for (int i = 0; i < rows * routing.chosen(); i++) {
                int row = isSpread ? i : i / routing.chosen();
                add(of, Float.floatToRawIntBits(chosen[i]), numbers, row * input.columns(), input.columns());
            }
        }
    }

    private static void add(Sums of, int matrix, float[] numbers, int from, int columns) {
        of.counts[matrix]++;
        for (int i = 0; i < columns; i++) {
            of.squares[matrix * columns + i] += numbers[from + i] * numbers[from + i];
        }
    }

    private float[] read(Rows rows, int count) {
        var numbers = new float[count * rows.columns()];
        device.read(rows, 0, count, MemorySegment.ofArray(numbers));
        return numbers;
    }

    private byte[] toBytes(String dataset, int windows, int context) {
        var header = new GgufHeaderWriter()
                .put("general.type", "imatrix")
                .put("imatrix.datasets", List.of(dataset))
                .put("imatrix.chunk_count", windows)
                .put("imatrix.chunk_size", context);
        long size = 0;
        for (var entry : sums.entrySet()) {
            int matrices = entry.getValue().counts.length;
            int columns = entry.getValue().squares.length / matrices;
            header.tensor(entry.getKey() + ".in_sum2", DataType.F32, Shape.of(matrices, columns));
            long at = header.tensor(entry.getKey() + ".counts", DataType.F32, Shape.of(matrices, 1));
            size = at + GgufHeaderWriter.padded((long) matrices * Float.BYTES);
        }
        byte[] first = header.toBytes();
        ByteBuffer file =
                ByteBuffer.allocate(Math.toIntExact(first.length + size)).order(ByteOrder.LITTLE_ENDIAN);
        file.put(first);
        for (Sums of : sums.values()) {
            put(file, of.squares);
            put(file, of.counts);
        }
        return file.array();
    }

    private static void put(ByteBuffer file, float[] numbers) {
        for (float number : numbers) {
            file.putFloat(number);
        }
        file.position(Math.toIntExact(GgufHeaderWriter.padded(file.position())));
    }
}
