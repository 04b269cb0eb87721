import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import roselle.backend.memory.Rows;
import roselle.backend.memory.Weight;
import roselle.backend.operation.Epilogue;
import roselle.backend.step.SamplingRows;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepLimits;
import roselle.cpu.CpuDevice;
import roselle.cpu.option.CpuOptions;
import roselle.quantization.StoredMatrix;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/**
 * Microseconds of a step's logits on the CPU, where some rows want few of them: java --add-modules jdk.incubator.vector
 * --enable-native-access=ALL-UNNAMED -cp CLASSES LogitsCost.java; prints the best of a third of a second as CSV.
 */
final class LogitsCost {
    private static final int ROWS = 32;
    private static final int FEW = 64;

    private LogitsCost() {}

    public static void main(String[] arguments) {
        System.out.println("logits,format,rows,\"rows that want 64 logits\",\"best, µs\"");
        for (int[] shape : new int[][] {{151_936, 896}, {32_000, 1024}, {4096, 256}}) {
            for (DataType type : List.of(DataType.Q8_0, DataType.BF16)) {
                measure(type, shape[0], shape[1]);
            }
        }
    }

    private static void measure(DataType type, int outputs, int columns) {
        try (Arena arena = Arena.ofShared();
                var device = new CpuDevice(CpuOptions.of(2))) {
            MemorySegment numbers = arena.allocate(type.rowBytes((long) columns * outputs));
            fill(numbers, type);
            var tensor = new Tensor("w", type, Shape.of(outputs, columns), numbers);
            Weight weight = device.load("w", 1, List.of(StoredMatrix.of(tensor)));
            Rows input = Rows.of(device.allocate(DataType.F32, (long) ROWS * columns), columns);
            Rows output = Rows.of(device.allocate(DataType.F32, (long) ROWS * outputs), outputs);
            for (int rows : new int[] {1, 4, ROWS}) {
                for (int few : new int[] {0, rows / 2, rows}) {
                    StepInputs inputs = inputs(few, outputs);
                    long best = Long.MAX_VALUE;
                    for (long stop = System.nanoTime() + 333_000_000L; System.nanoTime() < stop; ) {
                        long begin = System.nanoTime();
                        device.submit(
                                inputs,
                                (operations, _) -> operations.logits(input, weight, Epilogue.PLAIN, output, rows));
                        best = Math.min(best, System.nanoTime() - begin);
                    }
                    System.out.printf(
                            Locale.ROOT, "%d × %d,%s,%d,%d,%.0f%n", outputs, columns, type, rows, few, best / 1e3);
                }
            }
        }
    }

    /** Small numbers, and small scales where there are any. */
    private static void fill(MemorySegment numbers, DataType type) {
        var random = new Random(1);
        for (long at = 0; at + Short.BYTES <= numbers.byteSize(); at += Short.BYTES) {
            boolean isNumber = type == DataType.BF16 || at % type.blockBytes() == 0;
            short bits = (short) (isNumber ? 0x2c00 + random.nextInt(256) : random.nextInt());
            numbers.set(ValueLayout.JAVA_SHORT_UNALIGNED, at, bits);
        }
    }

    private static StepInputs inputs(int few, int outputs) {
        var random = new Random(2);
        var inputs = new StepInputs(new StepLimits(ROWS, ROWS, ROWS, ROWS, 16), 1);
        for (int row = 0; row < ROWS; row++) {
            inputs.wanted[row] = row < few ? new long[(outputs + 63) / 64] : SamplingRows.ALL;
            for (int i = 0; row < few && i < FEW; i++) {
                int token = random.nextInt(outputs);
                inputs.wanted[row][token / 64] |= 1L << token;
            }
        }
        return inputs;
    }
}
