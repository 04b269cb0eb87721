package roselle.backend;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.backend.memory.KvGroup;
import roselle.backend.memory.Rows;
import roselle.backend.operation.Activation;
import roselle.backend.operation.Convolution;
import roselle.backend.operation.DeltaHeads;
import roselle.backend.operation.DeltaNet;
import roselle.backend.operation.DeltaRule;
import roselle.backend.operation.Gate;
import roselle.backend.operation.Norm;
import roselle.backend.operation.SelectiveScan;
import roselle.backend.step.StepInputs;

/** Operations that go on from a state: near their recurrence in float64, and of the same bits however a sequence is cut. */
public abstract class StateContract extends StateSteps {
    static Stream<DeltaHeads> heads() {
        return Stream.of(
                new DeltaHeads(2, 4, 12, 16),
                new DeltaHeads(1, 1, 128, 128),
                new DeltaHeads(2, 4, 128, 64, true),
                new DeltaHeads(2, 6, 33, 70, true),
                new DeltaHeads(3, 3, 20, 7));
    }

    @ParameterizedTest
    @MethodSource("heads")
    void deltaRulesAreTheirRecurrence(DeltaHeads heads) {
        checkAgainstRecurrence(new Delta(heads));
    }

    @ParameterizedTest
    @MethodSource("heads")
    void deltaRulesGiveTheSameBitsHoweverASequenceIsCut(DeltaHeads heads) {
        checkBits(new Delta(heads));
    }

    static Stream<DeltaHeads> channels() {
        return Stream.of(
                DeltaHeads.ofChannels(2, 12, 16), DeltaHeads.ofChannels(1, 128, 128), DeltaHeads.ofChannels(3, 33, 70));
    }

    @ParameterizedTest
    @MethodSource("channels")
    void deltaRulesWithDecaysOfChannelsAreTheirRecurrence(DeltaHeads heads) {
        checkAgainstRecurrence(new Delta(heads));
    }

    @ParameterizedTest
    @MethodSource("channels")
    void deltaRulesWithDecaysOfChannelsGiveTheSameBitsHoweverASequenceIsCut(DeltaHeads heads) {
        checkBits(new Delta(heads));
    }

    @ParameterizedTest
    @MethodSource("channels")
    void deltaRulesWithBoundedDecaysAreTheirRecurrence(DeltaHeads heads) {
        checkAgainstRecurrence(new Delta(heads, 1f, -5f));
    }

    @ParameterizedTest
    @MethodSource("channels")
    void deltaRulesWithBoundedDecaysGiveTheSameBitsHoweverASequenceIsCut(DeltaHeads heads) {
        checkBits(new Delta(heads, 1f, -5f));
    }

    @ParameterizedTest
    @MethodSource("heads")
    void deltaRulesThatMayOvershootAreTheirRecurrence(DeltaHeads heads) {
        checkAgainstRecurrence(new Delta(heads, 2f, 0f));
    }

    @ParameterizedTest
    @MethodSource("heads")
    void deltaRulesThatMayOvershootGiveTheSameBitsHoweverASequenceIsCut(DeltaHeads heads) {
        checkBits(new Delta(heads, 2f, 0f));
    }

    @ParameterizedTest
    @CsvSource({"100, 16", "7, 5", "64, 34"})
    void selectiveScansAreTheirRecurrence(int channels, int size) {
        checkAgainstRecurrence(new Scan(channels, size));
    }

    @ParameterizedTest
    @CsvSource({"100, 16", "7, 5", "64, 34"})
    void selectiveScansGiveTheSameBitsHoweverASequenceIsCut(int channels, int size) {
        checkBits(new Scan(channels, size));
    }

    @ParameterizedTest
    @MethodSource("heads")
    void stateSpacesAreTheirRecurrence(DeltaHeads heads) {
        checkAgainstRecurrence(new Space(heads));
    }

    @ParameterizedTest
    @MethodSource("heads")
    void stateSpacesGiveTheSameBitsHoweverASequenceIsCut(DeltaHeads heads) {
        checkBits(new Space(heads));
    }

    @ParameterizedTest
    @CsvSource({"4, 48, SILU", "3, 7, NONE", "1, 100, SILU", "9, 33, NONE"})
    void convolutionsAreTheirSums(int taps, int channels, Activation activation) {
        checkAgainstRecurrence(new Convolved(taps, channels, activation));
    }

    @ParameterizedTest
    @CsvSource({"4, 48, SILU", "3, 7, NONE", "1, 100, SILU", "9, 33, NONE"})
    void convolutionsGiveTheSameBitsHoweverASequenceIsCut(int taps, int channels, Activation activation) {
        checkBits(new Convolved(taps, channels, activation));
    }

    /** Steps of single rows, which may be one kernel, against those of many, which are several. */
    @ParameterizedTest
    @MethodSource("heads")
    void deltaNetsGiveTheSameBitsHoweverASequenceIsCut(DeltaHeads heads) {
        checkBits(new Net(heads));
    }

    private final class Net extends Subject {
        private final DeltaHeads heads;
        private final float[][] projections;
        private final Convolution convolution;
        private final DeltaRule rule;
        private final Norm norm;
        private final Rows attended;

        Net(DeltaHeads heads) {
            super(
                    List.of(KvGroup.ofState("convolution", LAYERS, heads.channels(), 0), heads.group(LAYERS)),
                    heads.values());
            this.heads = heads;
            projections = numbers(columns());
            convolution =
                    new Convolution(0, 1, 4, device.constants(random(4 * heads.channels())), null, Activation.SILU);
            float[] rate = random(heads.valueHeads());
            for (int h = 0; h < rate.length; h++) {
                rate[h] = (float) -Math.exp(2 * rate[h] - 2);
            }
            rule = new DeltaRule(1, 1, heads, device.constants(rate), device.constants(random(heads.decays())));
            norm = new Norm(Norm.Kind.RMS, device.constants(random(heads.valueSize())), 0.5f, null, 1e-6f);
            attended = gapless(new float[LIMITS.maxRows() * width], width);
        }

        /** Channels, gates, {@code a} and {@code b}, and where channels go once they are convolved, up to whole pieces of memory. */
        private int columns() {
            int numbers = 2 * heads.channels() + heads.values() + 2 * heads.valueHeads();
            return (numbers + 7) / 8 * 8;
        }

        @Override
        Rows run(StepInputs step, int[][] tokens) {
            Rows all = rows(projections, columns(), tokens);
            int channels = heads.channels();
            Rows convolved = all.columns(channels + width, channels);
            int behind = 2 * channels + width;
            var net = new DeltaNet(
                    all.columns(0, channels),
                    convolution,
                    convolved,
                    convolved.columns(0, heads.keys()),
                    convolved.columns(heads.keys(), heads.keys()),
                    convolved.columns(2 * heads.keys(), heads.values()),
                    all.columns(behind, heads.valueHeads()),
                    all.columns(behind + heads.valueHeads(), heads.valueHeads()),
                    rule,
                    attended,
                    Rows.of(attended.buffer(), heads.valueSize()),
                    norm,
                    all.columns(channels, width),
                    Gate.of(Activation.SILU));
            begin(step);
            operations.deltaNet(net, cache, step.rows);
            return attended;
        }

        /** In pieces of memory that kernels for few rows take. */
        @Override
        Rows placed(float[] numbers, int columns) {
            return gapless(numbers, columns);
        }

        @Override
        float[] left(Rows output, int rows) {
            return readGapless(output, rows);
        }

        @Override
        double[] expected(int sequence) {
            throw new UnsupportedOperationException("its parts have their own");
        }
    }

    private final class Convolved extends Subject {
        private final float[][] inputs;
        private final float[] weight;
        private final float[] bias;
        private final Convolution convolution;

        Convolved(int taps, int channels, Activation activation) {
            super(KvGroup.ofState("convolution", LAYERS, channels, 0), channels);
            inputs = numbers(channels);
            weight = random(taps * channels);
            bias = random(channels);
            convolution = new Convolution(0, 1, taps, device.constants(weight), device.constants(bias), activation);
        }

        @Override
        Rows run(StepInputs step, int[][] tokens) {
            Rows input = rows(inputs, width, tokens);
            Rows output = poisoned(step.rows, width);
            begin(step);
            operations.convolve(input, convolution, cache, output);
            return output;
        }

        @Override
        double[] expected(int sequence) {
            var expected = new double[LENGTHS[sequence] * width];
            for (int i = 0; i < expected.length; i++) {
                double sum = bias[i % width];
                for (int tap = 0; tap < convolution.taps(); tap++) {
                    int token = i / width - convolution.taps() + 1 + tap;
                    double x = token < 0 ? 0 : inputs[sequence][token * width + i % width];
                    sum += x * weight[tap * width + i % width];
                }
                expected[i] = Float64.activation(convolution.activation(), sum);
            }
            return expected;
        }
    }

    private final class Delta extends Subject {
        private final DeltaHeads heads;
        private final float[][] queries;
        private final float[][] keys;
        private final float[][] values;
        private final float[][] as;
        private final float[][] bs;
        private final float[] rate;
        private final float[] timeBias;
        private final DeltaRule rule;

        Delta(DeltaHeads heads) {
            this(heads, 1f, 0f);
        }

        Delta(DeltaHeads heads, float strength, float least) {
            super(heads.group(LAYERS), heads.values());
            this.heads = heads;
            queries = numbers(heads.keys());
            keys = numbers(heads.keys());
            values = numbers(heads.values());
            as = numbers(heads.decays());
            bs = numbers(heads.valueHeads());
            rate = random(heads.valueHeads());
            for (int h = 0; h < rate.length; h++) {
                rate[h] = (float) -Math.exp(2 * rate[h] - 2);
            }
            timeBias = random(heads.decays());
            rule = new DeltaRule(
                    0, 1, heads, device.constants(rate), device.constants(timeBias), null, strength, least);
        }

        @Override
        Rows run(StepInputs step, int[][] tokens) {
            Rows query = rows(queries, heads.keys(), tokens);
            Rows key = rows(keys, heads.keys(), tokens);
            Rows value = rows(values, heads.values(), tokens);
            Rows a = rows(as, heads.decays(), tokens);
            Rows b = rows(bs, heads.valueHeads(), tokens);
            Rows output = poisoned(step.rows, heads.values());
            begin(step);
            operations.deltaRule(query, key, value, a, b, rule, cache, output);
            return output;
        }

        @Override
        double[] expected(int sequence) {
            var expected = new double[LENGTHS[sequence] * heads.values()];
            for (int head = 0; head < heads.valueHeads(); head++) {
                var state = new double[heads.keySize()][heads.valueSize()];
                for (int token = 0; token < LENGTHS[sequence]; token++) {
                    advance(sequence, head, token, state, expected);
                }
            }
            return expected;
        }

        private void advance(int sequence, int head, int token, double[][] state, double[] expected) {
            float b = bs[sequence][token * heads.valueHeads() + head];
            double beta = rule.strength() * Float64.activation(Activation.LOGISTIC, b);
            double[] key = unit(keys[sequence], token, head);
            double[] query = unit(queries[sequence], token, head);
            for (int c = 0; c < heads.valueSize(); c++) {
                double seen = 0;
                for (int i = 0; i < key.length; i++) {
                    state[i][c] *= decay(sequence, head, token, i);
                    seen += state[i][c] * key[i];
                }
                int at = token * heads.values() + head * heads.valueSize() + c;
                double correction = beta * (values[sequence][at] - seen);
                for (int i = 0; i < key.length; i++) {
                    state[i][c] += key[i] * correction;
                    expected[at] += state[i][c] * query[i] / Math.sqrt(key.length);
                }
            }
        }

        private double decay(int sequence, int head, int token, int channel) {
            int decay = heads.decaysByChannel() ? head * heads.keySize() + channel : head;
            double x = as[sequence][token * heads.decays() + decay] + (double) timeBias[decay];
            boolean isBounded = rule.least() != 0;
            return Math.exp(
                    isBounded ? rule.least() / (1 + Math.exp(rate[head] * x)) : rate[head] * Math.log1p(Math.exp(x)));
        }

        private double[] unit(float[] numbers, int token, int head) {
            int keyHead = heads.takesTurns() ? head % heads.keyHeads() : head * heads.keyHeads() / heads.valueHeads();
            int from = token * heads.keys() + keyHead * heads.keySize();
            var unit = new double[heads.keySize()];
            double squares = 0;
            for (int i = 0; i < unit.length; i++) {
                unit[i] = numbers[from + i];
                squares += unit[i] * unit[i];
            }
            for (int i = 0; i < unit.length; i++) {
                unit[i] /= Math.sqrt(squares + DeltaRule.EPSILON);
            }
            return unit;
        }
    }

    private final class Space extends Subject {
        private static final float SHORTEST = 0.3f; // in the midst of what tokens take, so that both bounds are met
        private static final float LONGEST = 1.2f;

        private final DeltaHeads heads;
        private final float[][] queries;
        private final float[][] keys;
        private final float[][] values;
        private final float[][] times;
        private final float[] rate;
        private final float[] timeBias;
        private final float[] skip;
        private final DeltaRule rule;

        Space(DeltaHeads heads) {
            super(heads.spaceGroup(LAYERS), heads.values());
            this.heads = heads;
            queries = numbers(heads.keys());
            keys = numbers(heads.keys());
            values = numbers(heads.values());
            times = numbers(heads.valueHeads());
            rate = random(heads.valueHeads());
            for (int h = 0; h < rate.length; h++) {
                rate[h] = (float) -Math.exp(2 * rate[h] - 2);
            }
            timeBias = random(heads.valueHeads());
            skip = random(heads.valueHeads());
            var space = new DeltaRule.Space(device.constants(skip), SHORTEST, LONGEST);
            rule = new DeltaRule(0, 1, heads, device.constants(rate), device.constants(timeBias), space);
        }

        @Override
        Rows run(StepInputs step, int[][] tokens) {
            Rows query = rows(queries, heads.keys(), tokens);
            Rows key = rows(keys, heads.keys(), tokens);
            Rows value = rows(values, heads.values(), tokens);
            Rows time = rows(times, heads.valueHeads(), tokens);
            Rows output = poisoned(step.rows, heads.values());
            begin(step);
            operations.deltaRule(query, key, value, time, time, rule, cache, output);
            return output;
        }

        @Override
        double[] expected(int sequence) {
            var expected = new double[LENGTHS[sequence] * heads.values()];
            for (int head = 0; head < heads.valueHeads(); head++) {
                var state = new double[heads.keySize()][heads.valueSize()];
                for (int token = 0; token < LENGTHS[sequence]; token++) {
                    advance(sequence, head, token, state, expected);
                }
            }
            return expected;
        }

        private void advance(int sequence, int head, int token, double[][] state, double[] expected) {
            double x = times[sequence][token * heads.valueHeads() + head] + (double) timeBias[head];
            double time = Math.clamp(Math.log1p(Math.exp(x)), SHORTEST, LONGEST);
            double decay = Math.exp(rate[head] * time);
            int at = token * heads.keys() + heads.keyHead(head) * heads.keySize();
            for (int c = 0; c < heads.valueSize(); c++) {
                int column = token * heads.values() + head * heads.valueSize() + c;
                expected[column] = skip[head] * values[sequence][column];
                for (int i = 0; i < heads.keySize(); i++) {
                    state[i][c] = decay * state[i][c] + keys[sequence][at + i] * time * values[sequence][column];
                    expected[column] += state[i][c] * queries[sequence][at + i];
                }
            }
        }
    }

    private final class Scan extends Subject {
        private final int channels;
        private final int size;
        private final float[][] xs;
        private final float[][] times;
        private final float[][] bs;
        private final float[][] cs;
        private final float[] rate;
        private final float[] timeBias;
        private final float[] skip;
        private final SelectiveScan scan;

        Scan(int channels, int size) {
            super(SelectiveScan.kvGroup(channels, size).withLayers(LAYERS), channels);
            this.channels = channels;
            this.size = size;
            xs = numbers(channels);
            times = numbers(channels);
            bs = numbers(size);
            cs = numbers(size);
            rate = random(size * channels);
            for (int i = 0; i < rate.length; i++) {
                rate[i] = (float) -Math.exp(2 * rate[i] - 2);
            }
            timeBias = random(channels);
            skip = random(channels);
            scan = new SelectiveScan(0, 1, device.constants(rate), device.constants(timeBias), device.constants(skip));
        }

        @Override
        Rows run(StepInputs step, int[][] tokens) {
            Rows x = rows(xs, channels, tokens);
            Rows time = rows(times, channels, tokens);
            Rows b = rows(bs, size, tokens);
            Rows c = rows(cs, size, tokens);
            Rows output = poisoned(step.rows, channels);
            begin(step);
            operations.selectiveScan(x, time, b, c, scan, cache, output);
            return output;
        }

        @Override
        double[] expected(int sequence) {
            var expected = new double[LENGTHS[sequence] * channels];
            for (int d = 0; d < channels; d++) {
                var state = new double[size];
                for (int token = 0; token < LENGTHS[sequence]; token++) {
                    int at = token * channels + d;
                    double time = Math.log1p(Math.exp(times[sequence][at] + (double) timeBias[d]));
                    expected[at] = skip[d] * xs[sequence][at];
                    for (int n = 0; n < size; n++) {
                        double written = time * xs[sequence][at] * bs[sequence][token * size + n];
                        state[n] = Math.exp(rate[n * channels + d] * time) * state[n] + written;
                        expected[at] += cs[sequence][token * size + n] * state[n];
                    }
                }
            }
            return expected;
        }
    }
}
