package roselle.cpu.row;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import roselle.backend.memory.Rows;
import roselle.backend.operation.Xielu;
import roselle.cpu.memory.CpuBuffer;
import roselle.tensor.DataType;

/** Mixes of streams, lengths of others, and sparse activations are as their formulas say; views leave what lies beside them. */
class StreamsTest {
    private static final long SEED = 20261128;
    private static final int ROWS = 3;
    private static final int WIDTH = 19;
    private static final float TOLERANCE = 1e-5f;

    private final Arena arena = Arena.ofConfined();
    private final Random numbers = new Random(SEED);
    private final Scratch scratch = new Scratch();
    private final Streams streams = new Streams();

    @AfterEach
    void close() {
        arena.close();
    }

    @Test
    void mixesEachRowWithItsOwnCoefficients() {
        Rows input = random(3 * WIDTH);
        Rows coefficients = random(2 * 3);
        Rows output = random(2 * WIDTH + 4).columns(1, 2 * WIDTH);
        float beside = at(output, 1, -1);
        run(streams.mixed(input, coefficients, WIDTH, output), WIDTH);
        for (int r = 0; r < ROWS; r++) {
            for (int j = 0; j < 2; j++) {
                for (int c = 0; c < WIDTH; c++) {
                    double sum = 0;
                    for (int i = 0; i < 3; i++) {
                        sum += (double) at(coefficients, r, j * 3 + i) * at(input, r, i * WIDTH + c);
                    }
                    assertThat(at(output, r, j * WIDTH + c)).isCloseTo((float) sum, within(TOLERANCE));
                }
            }
        }
        assertThat(at(output, 1, -1)).isEqualTo(beside);
    }

    @Test
    void addsWhatIsAsLongAsAnotherAndOfZerosNothing() {
        Rows input = random(WIDTH);
        for (int c = 0; c < WIDTH; c++) {
            CpuBuffer.number(CpuBuffer.of(input), CpuBuffer.row(input, 1) + c, 0f);
        }
        Rows like = random(WIDTH);
        Rows output = random(WIDTH);
        float[][] before = {row(output, 0), row(output, 1), row(output, 2)};
        run(streams.asLongAs(input, like, output), WIDTH);
        for (int r = 0; r < ROWS; r++) {
            double factor = length(row(like, r)) / Math.max(length(row(input, r)), Math.sqrt(1e-5));
            for (int c = 0; c < WIDTH; c++) {
                float expected = (float) (before[r][c] + factor * at(input, r, c));
                assertThat(at(output, r, c)).isCloseTo(expected, within(TOLERANCE));
            }
        }
    }

    @Test
    void leavesWhatLiesFarAboveTheMeanAlone() {
        Rows gates = random(WIDTH);
        float[][] before = {row(gates, 0), row(gates, 1), row(gates, 2)};
        run(streams.sparse(gates, 0.5f), WIDTH);
        int zeros = 0;
        for (int r = 0; r < ROWS; r++) {
            double mean = 0;
            for (float x : before[r]) {
                mean += (double) x / WIDTH;
            }
            double variance = 0;
            for (float x : before[r]) {
                variance += (x - mean) * (x - mean) / WIDTH;
            }
            for (int c = 0; c < WIDTH; c++) {
                double expected = Math.max(0, before[r][c] - mean - 0.5 * Math.sqrt(variance));
                assertThat(at(gates, r, c)).isCloseTo((float) expected, within(TOLERANCE));
                zeros += at(gates, r, c) == 0 ? 1 : 0;
            }
        }
        assertThat(zeros).isBetween(ROWS * WIDTH / 3, ROWS * WIDTH - ROWS);
    }

    @Test
    void bendsNumbersAsWasTrained() {
        Rows rows = random(WIDTH);
        float[][] before = {row(rows, 0), row(rows, 1), row(rows, 2)};
        run(streams.trained(rows, new Xielu(0.75f, 1.25f, 0.5f, -1e-6f)), WIDTH);
        for (int r = 0; r < ROWS; r++) {
            for (int c = 0; c < WIDTH; c++) {
                double x = before[r][c];
                double bent = x > 0 ? 0.75 * x * x : 1.25 * (Math.expm1(Math.min(x, -1e-6)) - x);
                assertThat(at(rows, r, c)).isCloseTo((float) (bent + 0.5 * x), within(TOLERANCE));
            }
        }
    }

    private void run(Streams operation, int columns) {
        scratch.reserve(columns);
        operation.run(scratch, 0, ROWS);
    }

    private static double length(float[] x) {
        double sum = 0;
        for (float one : x) {
            sum += (double) one * one / x.length;
        }
        return Math.sqrt(sum);
    }

    private Rows random(int columns) {
        MemorySegment segment = arena.allocate((long) ROWS * columns * Float.BYTES, 64);
        for (int i = 0; i < ROWS * columns; i++) {
            segment.setAtIndex(JAVA_FLOAT, i, (float) numbers.nextGaussian());
        }
        return Rows.of(new CpuBuffer(DataType.F32, (long) ROWS * columns, segment), columns);
    }

    private static float at(Rows rows, int row, int column) {
        return CpuBuffer.number(CpuBuffer.of(rows), CpuBuffer.row(rows, row) + column);
    }

    private static float[] row(Rows rows, int row) {
        var numbers = new float[rows.columns()];
        for (int c = 0; c < numbers.length; c++) {
            numbers[c] = at(rows, row, c);
        }
        return numbers;
    }
}
