package roselle.backend;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.backend.memory.Buffer;
import roselle.backend.memory.Rows;
import roselle.backend.operation.Activation;
import roselle.backend.operation.Gate;
import roselle.backend.operation.Norm;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepLimits;
import roselle.tensor.DataType;

/** The operations on rows alone: norms, activations, sums, tables. */
public abstract class RowsContract extends ContractFixture {
    private static final StepLimits LIMITS = new StepLimits(16, 4, 16, 64, 4);

    @ParameterizedTest
    @MethodSource("sizesAndRows")
    void normsEachRow(int size, int rows) {
        for (Norm.Kind kind : Norm.Kind.values()) {
            float[] input = random(rows * size);
            float[] weight = random(size);
            float[] bias = random(size);
            var norm = new Norm(kind, device.constants(weight), 1f, device.constants(bias), 1e-5f);
            Rows output = poisoned(rows, size);
            operations.norm(rows(input, size), norm, output, rows);
            double[] expected = normed(kind, input, weight, bias, size);
            assertClose(read(output, rows), expected);

            Rows inPlace = rows(input, size);
            operations.norm(inPlace, norm, inPlace, rows);
            assertClose(read(inPlace, rows), expected);

            float[] stream = random(rows * size);
            Rows added = rows(stream, size);
            operations.addNormed(rows(input, size), norm, 0.5f, added, rows);
            for (int i = 0; i < expected.length; i++) {
                expected[i] = stream[i] + 0.5 * expected[i];
            }
            assertClose(read(added, rows), expected);
        }
    }

    private static double[] normed(Norm.Kind kind, float[] input, float[] weight, float[] bias, int size) {
        var output = new double[input.length];
        for (int from = 0; from < input.length; from += size) {
            double mean = 0;
            for (int i = 0; i < size && kind == Norm.Kind.LAYER; i++) {
                mean += input[from + i] / (double) size;
            }
            double variance = 0;
            for (int i = 0; i < size; i++) {
                variance += Math.pow(input[from + i] - mean, 2) / size;
            }
            for (int i = 0; i < size; i++) {
                double x = (input[from + i] - mean) / Math.sqrt(variance + 1e-5f);
                output[from + i] = x * (weight[i] + 1) + bias[i];
            }
        }
        return output;
    }

    @Test
    void keepsNanWithinItsRow() {
        float[] input = random(3 * 33);
        input[33 + 5] = Float.NaN;
        Rows output = poisoned(3, 33);
        var norm = new Norm(Norm.Kind.RMS, device.constants(random(33)), 0f, null, 1e-6f);
        operations.norm(rows(input, 33), norm, output, 3);
        float[] normed = read(output, 3);
        for (int i = 0; i < normed.length; i++) {
            assertThat(Float.isNaN(normed[i])).as("number %d", i).isEqualTo(i / 33 == 1);
        }
    }

    @ParameterizedTest
    @EnumSource(Activation.class)
    void gatesNumberByNumber(Activation activation) {
        for (int size : sizes()) {
            float[] gate = random(2 * size);
            float[] up = random(2 * size);
            gate[size] = 40f;
            gate[size - 1] = -40f;
            Rows output = poisoned(2, size);
            var kind = new Gate(activation, 7f, 0.5f, 1f);
            operations.gatedActivation(rows(gate, size), rows(up, size), kind, output, 2);
            var expected = new double[gate.length];
            for (int i = 0; i < gate.length; i++) {
                double other = Math.clamp(up[i], -0.5f, 0.5f) + 1.0;
                expected[i] = Float64.activation(activation, Math.min(gate[i], 7f)) * other;
            }
            assertClose(read(output, 2), expected);

            Rows inPlace = rows(gate, size);
            operations.gatedActivation(inPlace, rows(up, size), kind, inPlace, 2);
            assertClose(read(inPlace, 2), expected);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 24, 33, 64, 128, 256, 264})
    void gatesNormedPartsWithTheBitsOfBoth(int size) {
        int columns = 3 * size;
        Buffer scales = device.constants(random(size));
        Buffer offsets = device.constants(random(size));
        var gate = new Gate(Activation.SILU, 7f, 0f);
        for (Norm.Kind kind : Norm.Kind.values()) {
            var norm = new Norm(kind, scales, 0.5f, kind == Norm.Kind.LAYER ? offsets : null, 1e-5f);
            for (int rows : new int[] {1, 5}) {
                float[] input = random(rows * columns);
                Rows gates = rows(random(rows * columns), columns);
                Rows expected = gapless(input, columns);
                Rows expectedParts = Rows.of(expected.buffer(), size);
                operations.norm(expectedParts, norm, expectedParts, 3 * rows);
                operations.gatedActivation(gates, expected, gate, expected, rows);
                Rows output = gapless(input, columns);
                operations.gateNormed(gates, Rows.of(output.buffer(), size), norm, gate, output, rows);
                assertThat(readGapless(output, rows))
                        .as("%d rows, %s, seed %d", rows, kind, SEED)
                        .isEqualTo(readGapless(expected, rows));
            }
        }
    }

    @ParameterizedTest
    @MethodSource("sizesAndRows")
    void addsGatedRows(int size, int rows) {
        float[] input = random(rows * size);
        float[] stream = random(rows * size);
        float[] gate = random(rows);
        Rows gated = rows(stream, size);
        operations.addGated(rows(input, size), rows(gate, 1), 0.7f, gated, rows);
        var expected = new double[stream.length];
        for (int i = 0; i < stream.length; i++) {
            expected[i] = stream[i] + 0.7 * input[i] / (1 + Math.exp(-gate[i / size]));
        }
        assertClose(read(gated, rows), expected);
    }

    @ParameterizedTest
    @MethodSource("sizesAndRows")
    void scalesAndCapsLogits(int size, int rows) {
        float[] input = random(rows * size);
        Rows scaled = rows(input, size);
        operations.scaleLogits(scaled, 0.25f, 0f, rows);
        Rows capped = rows(input, size);
        operations.scaleLogits(capped, 3f, 2f, rows);
        assertClose(
                read(scaled, rows),
                Arrays.stream(doubles(input)).map(x -> 0.25 * x).toArray());
        assertClose(
                read(capped, rows),
                Arrays.stream(doubles(input)).map(x -> 2 * Math.tanh(3 * x / 2)).toArray());
    }

    @ParameterizedTest
    @MethodSource("sizes")
    void looksUpTokensAndPositionsAndSelectsOutputs(int size) {
        float[] table = random(9 * size);
        StepInputs inputs = step(LIMITS, 0, new int[] {2, 5}, new int[] {2, 1});
        int[] tokens = {8, 0, 3};
        System.arraycopy(tokens, 0, inputs.tokenIds, 0, 3);
        inputs.tokenIds[1] = 9; // which has no row: that of token 0
        inputs.outputs = 2;
        inputs.outputRow[0] = 0;
        inputs.outputRow[1] = 2;
        begin(inputs);
        Rows output = poisoned(3, size);
        operations.embed(weight(table, 1, size), 0.5f, output);
        operations.addPositions(weight(table, 1, size), output);
        Rows selected = poisoned(2, size);
        operations.selectOutputs(output, selected);
        int[] positions = {2, 3, 5};
        var expected = new double[3 * size];
        for (int i = 0; i < expected.length; i++) {
            int row = i / size;
            expected[i] = 0.5 * table[tokens[row] * size + i % size] + table[positions[row] * size + i % size];
        }
        float[] all = read(output, 3);
        assertClose(all, expected);
        float[] chosen = read(selected, 2);
        assertThat(Arrays.copyOfRange(chosen, 0, size)).isEqualTo(Arrays.copyOfRange(all, 0, size));
        assertThat(Arrays.copyOfRange(chosen, size, 2 * size)).isEqualTo(Arrays.copyOfRange(all, 2 * size, 3 * size));
    }

    @Test
    void allocatesZeros() {
        Rows zeros = Rows.of(device.allocate(DataType.F32, 1000), 1000);
        var target = arena.allocate(4000);
        device.read(zeros, 0, 1, target);
        assertThat(target.toArray(java.lang.foreign.ValueLayout.JAVA_BYTE)).containsOnly(0);
    }

    static double[] doubles(float[] numbers) {
        var doubles = new double[numbers.length];
        for (int i = 0; i < doubles.length; i++) {
            doubles[i] = numbers[i];
        }
        return doubles;
    }
}
