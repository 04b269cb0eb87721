package roselle.cpu.row;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import roselle.backend.operation.Activation;
import roselle.backend.operation.Gate;
import roselle.backend.operation.Norm;
import roselle.cpu.machine.InstructionSet;
import roselle.cpu.machine.Processor;
import roselle.cpu.machine.Processor.Feature;
import roselle.cpu.machine.row.RowKernels;
import roselle.cpu.memory.CpuBuffer;
import roselle.cpu.vector.Lanes;
import roselle.cpu.vector.VectorFunctions;
import roselle.tensor.DataType;
import roselle.testing.ChildJvm;

/** Machine code of rows gives the bits of its twins. */
class RowKernelsTest {
    private static final int COLUMNS = 1536;
    private static final float[] SPECIAL = {
        0f,
        -0f,
        Float.NaN,
        Float.POSITIVE_INFINITY,
        Float.NEGATIVE_INFINITY,
        Float.MIN_VALUE,
        -Float.MAX_VALUE,
        88.5f,
        -88.5f,
        -103.9f,
        104.1f,
        -2e4f,
        2e4f
    };

    private static RowKernels kernels(InstructionSet set) {
        assumeTrue(Processor.probe().features().contains(Feature.valueOf(set.name())));
        return RowKernels.open(set).orElseThrow();
    }

    private static float[] numbers(int count, long seed, float[] special) {
        var random = new Random(seed);
        float[] numbers = new float[count];
        for (int i = 0; i < count; i++) {
            numbers[i] = random.nextInt(20) == 0 && special.length > 0
                    ? special[random.nextInt(special.length)]
                    : (float) random.nextGaussian() * (1 << random.nextInt(8));
        }
        return numbers;
    }

    private static MemorySegment segment(Arena arena, float[] numbers) {
        MemorySegment segment = arena.allocate((long) numbers.length * Float.BYTES, 64);
        MemorySegment.copy(numbers, 0, segment, JAVA_FLOAT, 0, numbers.length);
        return segment;
    }

    @ParameterizedTest
    @CsvSource({
        "AVX2, SILU, 0",
        "AVX2, GELU_TANH, 0",
        "AVX2, GELU_QUICK, 1",
        "AVX512, SILU, 0",
        "AVX512, GELU_TANH, 0",
        "AVX512, GELU_QUICK, 1"
    })
    void gatesLikeItsTwin(InstructionSet set, Activation activation, float offset) {
        Gate kind = new Gate(activation, Float.POSITIVE_INFINITY, offset);
        float[] gate = numbers(COLUMNS, 1, SPECIAL);
        float[] up = numbers(COLUMNS, 2, SPECIAL);
        try (var arena = Arena.ofConfined();
                var kernels = kernels(set)) {
            MemorySegment output = arena.allocate((long) COLUMNS * Float.BYTES, 64);
            var call = kernels.call();
            assertThat(call.takes(kind, COLUMNS)).isTrue();
            call.kind(kind);
            call.gate(segment(arena, gate).address(), segment(arena, up).address(), output.address(), COLUMNS);
            VectorFunctions.gate(kind, gate, up, COLUMNS);
            assertThat(output.toArray(JAVA_FLOAT)).isEqualTo(gate);
        }
    }

    @ParameterizedTest
    @EnumSource(InstructionSet.class)
    void normalisesLikeItsTwin(InstructionSet set) {
        float[] row = numbers(COLUMNS, 3, new float[] {0f, -0f});
        float[] weight = numbers(COLUMNS, 4, new float[] {0f, -0f});
        try (var arena = Arena.ofConfined();
                var kernels = kernels(set)) {
            var norm = new Norm(
                    Norm.Kind.RMS, new CpuBuffer(DataType.F32, COLUMNS, segment(arena, weight)), 1f, null, 1e-5f);
            var call = kernels.call();
            assumeTrue(call.takes(norm, COLUMNS));
            MemorySegment output = arena.allocate((long) COLUMNS * Float.BYTES, 64);
            Normalize.code(call, segment(arena, row).address(), COLUMNS, norm, output.address());
            Normalize.vector(row, COLUMNS, norm, 0, new float[Lanes.COUNT]);
            assertThat(output.toArray(JAVA_FLOAT)).isEqualTo(row);
        }
    }

    /** Rows of none to four vectors, of which some are not there, in two tiles one after the other. */
    @ParameterizedTest
    @EnumSource(InstructionSet.class)
    void weighsLikeItsTwin(InstructionSet set) {
        int rows = 5;
        int columns = 64;
        try (var arena = Arena.ofConfined();
                var kernels = kernels(set)) {
            var softmax = kernels.softmax(rows, columns);
            assumeTrue(softmax.isPresent());
            var largest = new float[rows];
            var denominators = new float[rows];
            Arrays.fill(largest, Float.NEGATIVE_INFINITY);
            for (int row = 0; row < rows; row++) {
                softmax.get().row(row, largest[row], 0f, 0f);
            }
            for (int tile = 0; tile < 2; tile++) {
                float[] scores = numbers(rows * columns, 5 + tile, new float[] {Float.NEGATIVE_INFINITY, -0f});
                MemorySegment weights = segment(arena, scores);
                for (int row = 0; row < rows; row++) {
                    softmax.get().vectors(row, row * 16 / Lanes.COUNT);
                }
                softmax.get().run(weights.address(), 0, 2, 0.3f);
                softmax.get().run(weights.address(), 2, rows, 0.3f);
                for (int row = 1; row < rows; row++) {
                    float before = largest[row];
                    for (int i = row * columns; i < row * columns + row * 16; i++) {
                        scores[i] *= 0.3f;
                        largest[row] = Math.max(largest[row], scores[i]);
                    }
                    float[] lanes = new float[Lanes.COUNT];
                    VectorFunctions.softmaxWeights(scores, row * columns, row * 16, largest[row], lanes, 0);
                    float shrink = VectorFunctions.exp(before - largest[row]);
                    denominators[row] = denominators[row] * shrink + Lanes.sum(lanes);
                    assertThat(softmax.get().largest(row)).isEqualTo(largest[row]);
                    assertThat(softmax.get().shrink(row)).isEqualTo(shrink);
                    assertThat(softmax.get().denominator(row)).isEqualTo(denominators[row]);
                }
                assertThat(weights.toArray(JAVA_FLOAT)).isEqualTo(scores);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(InstructionSet.class)
    void takesSumsOnAndDividesThemLikeItsTwin(InstructionSet set) {
        int rows = 3;
        int columns = 32;
        float[] more = numbers(rows * columns, 8, SPECIAL);
        float[] sums = numbers(rows * columns, 9, SPECIAL);
        try (var arena = Arena.ofConfined();
                var kernels = kernels(set)) {
            var softmax = kernels.softmax(rows, columns);
            assumeTrue(softmax.isPresent());
            for (int row = 0; row < rows; row++) {
                softmax.get().row(row, 0f, 0.3f + row, 0.7f + row);
            }
            MemorySegment into = segment(arena, sums);
            softmax.get().shrink(segment(arena, more).address(), into.address(), 0, 1, columns);
            softmax.get().shrink(segment(arena, more).address(), into.address(), 1, rows, columns);
            MemorySegment output = arena.allocate(2L * columns * Float.BYTES, 64);
            long second = (long) columns * Float.BYTES;
            softmax.get().divide(into.address() + second, output.address(), 1, rows, columns);
            for (int i = 0; i < sums.length; i++) {
                int row = i / columns;
                sums[i] = Math.fma(sums[i], 0.3f + row, more[i]);
            }
            assertThat(into.toArray(JAVA_FLOAT)).isEqualTo(sums);
            var quotients = new float[2 * columns];
            for (int i = 0; i < quotients.length; i++) {
                int row = 1 + i / columns;
                quotients[i] = sums[columns + i] / (0.7f + row);
            }
            assertThat(output.toArray(JAVA_FLOAT)).isEqualTo(quotients);
        }
    }

    @ParameterizedTest
    @EnumSource(InstructionSet.class)
    void sumsAndTheirGeluAreThoseOfTheTwins(InstructionSet set) {
        float[] sums = numbers(COLUMNS, 10, SPECIAL);
        float[] bias = numbers(COLUMNS, 11, SPECIAL);
        try (var arena = Arena.ofConfined();
                var kernels = kernels(set)) {
            MemorySegment output = segment(arena, sums);
            MemorySegment others = segment(arena, bias);
            kernels.call().sum(output.address(), others.address(), output.address(), COLUMNS);
            var added = new float[COLUMNS];
            var gelu = new float[COLUMNS];
            for (int i = 0; i < COLUMNS; i++) {
                added[i] = sums[i] + bias[i];
                gelu[i] = VectorFunctions.apply(Activation.GELU, added[i]);
            }
            assertThat(output.toArray(JAVA_FLOAT)).isEqualTo(added);
            kernels.call().gelu(segment(arena, sums).address(), others.address(), output.address(), COLUMNS);
            assertThat(output.toArray(JAVA_FLOAT)).isEqualTo(gelu);
        }
    }

    @ParameterizedTest
    @EnumSource(InstructionSet.class)
    void addsLikeItsTwin(InstructionSet set) {
        float[] sums = numbers(COLUMNS, 6, SPECIAL);
        float[] before = numbers(COLUMNS, 7, SPECIAL);
        try (var arena = Arena.ofConfined();
                var kernels = kernels(set)) {
            MemorySegment to = segment(arena, before);
            kernels.call().add(segment(arena, sums).address(), to.address(), COLUMNS);
            for (int i = 0; i < COLUMNS; i++) {
                before[i] += sums[i];
            }
            assertThat(to.toArray(JAVA_FLOAT)).isEqualTo(before);
        }
    }

    /** What sums does so in as many lanes as the Vector API, which this process may have more of. */
    @Test
    void sumsInEightLanesLikeItsTwins() {
        assumeTrue(Processor.probe().features().contains(Feature.AVX2));
        String said = ChildJvm.run(
                        List.of("-XX:MaxVectorSize=32", "--enable-native-access=ALL-UNNAMED"), RowKernelsTest.class)
                .success();
        assertThat(said).contains("lanes 8");
    }

    /** Fails where this process has not eight lanes. */
    public static void main(String[] arguments) {
        var test = new RowKernelsTest();
        test.normalisesLikeItsTwin(InstructionSet.AVX2);
        test.weighsLikeItsTwin(InstructionSet.AVX2);
        System.out.println("lanes " + Lanes.COUNT);
    }

    @ParameterizedTest
    @EnumSource(Activation.class)
    void takesSigmoidsWithoutBoundsInWholeLines(Activation activation) {
        boolean isSigmoid = activation == Activation.SILU
                || activation == Activation.GELU_TANH
                || activation == Activation.GELU_QUICK;
        try (var kernels = kernels(InstructionSet.AVX2)) {
            var call = kernels.call();
            assertThat(call.takes(Gate.of(activation), COLUMNS)).isEqualTo(isSigmoid);
            assertThat(call.takes(Gate.of(activation), COLUMNS + 8)).isFalse();
            assertThat(call.takes(new Gate(activation, 7f, 0f), COLUMNS)).isFalse();
        }
    }
}
