package roselle.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.provider.Arguments;
import roselle.backend.memory.Rows;
import roselle.backend.memory.Weight;
import roselle.backend.operation.Operations;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepLimits;
import roselle.quantization.StoredMatrix;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/**
 * What the contract tests of every backend share: memory, random numbers, and comparisons with float64 references.
 *
 * <p>Outputs are poisoned with NaN before each operation, so that a number that is not written shows; columns and rows
 * beside the outputs keep a mark that must survive. Random numbers follow from a seed that failures print.
 */
public abstract class ContractFixture {
    /** Marks numbers that an operation must not touch. */
    static final float UNTOUCHED = -12288f; // in 16 bits, too

    static final long SEED = 20_260_704L;

    final Random random = new Random(SEED);
    Device device;
    /** Each call is a step of its own, of the inputs that {@link #begin} was given last. */
    final Operations operations = stepwise();

    private StepInputs inputs = oneRow();
    Arena arena;

    /** Whether the device has an operation; of others another test sees that it refuses models that need them. */
    protected boolean runs(String operation) {
        return true;
    }

    /** A new device, closed after each test. */
    protected abstract Device open();

    /** Largest relative error that the backend's rows may have: about 1e-5 for float32. */
    protected double tolerance() {
        return 2e-5;
    }

    @BeforeEach
    final void openBackend() {
        arena = Arena.ofShared();
        device = open();
    }

    @AfterEach
    final void closeBackend() {
        device.close();
        arena.close();
    }

    private Operations stepwise() {
        return (Operations) Proxy.newProxyInstance(
                Operations.class.getClassLoader(), new Class<?>[] {Operations.class}, (_, method, arguments) -> {
                    device.submit(inputs, (all, _) -> call(method, all, arguments));
                    return null;
                });
    }

    private static void call(Method method, Operations all, Object[] arguments) {
        try {
            method.invoke(all, arguments);
        } catch (ReflectiveOperationException failure) {
            throw new LinkageError(method.getName() + " fails", failure);
        }
    }

    /** A step for operations that depend on none. */
    private static StepInputs oneRow() {
        var step = new StepInputs(new StepLimits(1, 1, 1, 1, 1), 0);
        step.rows = 1;
        step.sequences = 1;
        step.rowStart[1] = 1;
        return step;
    }

    /** Operations from here on belong to this step. */
    void begin(StepInputs step) {
        inputs = step;
    }

    float[] random(int count) {
        var numbers = new float[count];
        for (int i = 0; i < count; i++) {
            numbers[i] = (float) random.nextGaussian();
        }
        return numbers;
    }

    /** Rows that lie within wider ones, so that offsets and strides matter; filled with the given numbers. */
    Rows rows(float[] numbers, int columns) {
        int rows = numbers.length / columns;
        int before = 3;
        int stride = columns + 8;
        Rows wide = Rows.of(device.allocate(device.activationType(), (long) rows * stride), stride);
        var all = new float[rows * stride];
        Arrays.fill(all, UNTOUCHED);
        for (int r = 0; r < rows; r++) {
            System.arraycopy(numbers, r * columns, all, r * stride + before, columns);
        }
        fill(wide, all);
        return wide.columns(before, columns);
    }

    /** Brings numbers to a device as a decoder does: rows of a table are looked up. */
    private void fill(Rows rows, float[] numbers) {
        int count = numbers.length / rows.columns();
        var tensor = new Tensor("numbers", DataType.F32, Shape.of(count, rows.columns()), segment(numbers));
        Weight table = device.loadTable("numbers", StoredMatrix.of(tensor));
        StepInputs step = step(new StepLimits(count, 1, 1, count, 16), 0, new int[1], new int[] {count});
        Arrays.setAll(step.tokenIds, row -> row);
        device.submit(step, (all, _) -> all.embed(table, 1f, rows));
    }

    /** Rows without gaps, as a decoder's are. */
    Rows gapless(float[] numbers, int columns) {
        Rows all = Rows.of(device.allocate(device.activationType(), numbers.length), columns);
        fill(all, numbers);
        return all;
    }

    float[] readGapless(Rows all, int rows) {
        MemorySegment target = arena.allocate(ValueLayout.JAVA_FLOAT, (long) rows * all.columns());
        device.read(all, 0, rows, target);
        return target.toArray(ValueLayout.JAVA_FLOAT);
    }

    /** Rows for an output, poisoned. */
    Rows poisoned(int rows, int columns) {
        var poison = new float[rows * columns];
        Arrays.fill(poison, Float.NaN);
        return rows(poison, columns);
    }

    /** Reads rows back and checks that what lies beside them is as it was. */
    float[] read(Rows view, int rows) {
        MemorySegment target = arena.allocate(ValueLayout.JAVA_FLOAT, (long) rows * view.columns());
        device.read(view, 0, rows, target);
        var beside = new Rows(view.buffer(), view.offset() - 3, view.stride(), view.stride());
        MemorySegment wide = arena.allocate(ValueLayout.JAVA_FLOAT, (long) rows * view.stride());
        device.read(beside, 0, rows, wide);
        for (int i = 0; i < rows * view.stride(); i++) {
            int column = i % view.stride() - 3;
            boolean isBeside = column < 0 || column >= view.columns();
            if (isBeside && wide.getAtIndex(ValueLayout.JAVA_FLOAT, i) != UNTOUCHED) {
                assertThat(wide.getAtIndex(ValueLayout.JAVA_FLOAT, i))
                        .as("a number beside the rows")
                        .isEqualTo(UNTOUCHED);
            }
        }
        return target.toArray(ValueLayout.JAVA_FLOAT);
    }

    MemorySegment segment(float[] numbers) {
        return arena.allocateFrom(ValueLayout.JAVA_FLOAT, numbers);
    }

    /** A float32 weight of {@code matrices} stacked matrices. */
    Weight weight(float[] numbers, int matrices, int columns) {
        long rows = numbers.length / columns;
        var tensor = new Tensor("test", DataType.F32, Shape.of(rows, columns), segment(numbers));
        return device.load("test", matrices, List.of(StoredMatrix.of(tensor)));
    }

    /** Compares with a float64 reference, relative to the largest number of the reference. */
    void assertClose(float[] actual, double[] expected) {
        assertThat(actual).hasSameSizeAs(expected);
        double largest = 1;
        for (double number : expected) {
            largest = Double.isFinite(number) ? Math.max(largest, Math.abs(number)) : largest;
        }
        for (int i = 0; i < actual.length; i++) {
            if (Double.isNaN(expected[i])) {
                assertThat(actual[i]).as("number %d, seed %d", i, SEED).isNaN();
            } else if (!(Math.abs(actual[i] - expected[i]) <= tolerance() * largest)) {
                assertThat((double) actual[i])
                        .as("number %d, seed %d", i, SEED)
                        .isCloseTo(expected[i], within(tolerance() * largest));
            }
        }
    }

    /** Sizes around the widths of vector registers and tiles. */
    static List<Integer> sizes() {
        return List.of(1, 3, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 100, 129, 256, 300);
    }

    /** Each size with one and with several rows. */
    static List<Arguments> sizesAndRows() {
        var all = new ArrayList<Arguments>();
        for (int size : sizes()) {
            for (int rows : List.of(1, 3, 8)) {
                all.add(Arguments.of(size, rows));
            }
        }
        return all;
    }

    /** A step of the given sequences: tokens that the cache has, and rows that are new. */
    StepInputs step(StepLimits limits, int groups, int[] contexts, int[] newRows) {
        var inputs = new StepInputs(limits, groups);
        inputs.sequences = contexts.length;
        for (int s = 0; s < contexts.length; s++) {
            inputs.contextLength[s] = contexts[s];
            inputs.rowStart[s] = inputs.rows;
            for (int i = 0; i < newRows[s]; i++) {
                inputs.positions[inputs.rows++] = contexts[s] + i;
            }
        }
        inputs.rowStart[contexts.length] = inputs.rows;
        return inputs;
    }
}
