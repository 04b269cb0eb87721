package roselle.backend;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.backend.memory.KvCache;
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
import roselle.backend.step.StepLimits;
import roselle.model.weights.Floats;

/** Operations that go on from a state: near their recurrence in float64, and of the same bits however a sequence is cut. */
public abstract class StateContract extends ContractFixture {
    private static final int PAGE = 16;
    private static final int[] LENGTHS = {1, 15, 16, 17, 70};
    private static final int[] NONE = new int[LENGTHS.length];
    private static final StepLimits LIMITS = new StepLimits(200, LENGTHS.length, 200, 96, PAGE);
    private static final int PAGES = LENGTHS.length * LIMITS.maxPages();
    private static final int LAYERS = 2;

    /** Sequences whose rows are known, and an operation that works on some of them in a step. */
    private abstract class Subject {
        final KvCache cache;
        final int width;
        private final int groups;
        private final IdentityHashMap<float[][], Rows> all = new IdentityHashMap<>();

        Subject(KvGroup group, int width) {
            this(List.of(group), width);
        }

        Subject(List<KvGroup> groups, int width) {
            this.width = width;
            int[] pages = new int[groups.size()];
            Arrays.fill(pages, PAGES);
            cache = device.allocateKvCache(groups, device.kvTypes().getLast(), PAGE, pages);
            this.groups = groups.size();
        }

        abstract Rows run(StepInputs step, int[][] tokens);

        abstract double[] expected(int sequence);

        /** Rows of each sequence from {@code before} on, {@code count} of them; what is not gone on from is not kept, if so asked. */
        float[] step(int[] before, int[] count, boolean isSparse) {
            int[] active =
                    IntStream.range(0, LENGTHS.length).filter(s -> count[s] > 0).toArray();
            StepInputs step = StateContract.this.step(
                    LIMITS,
                    groups,
                    Arrays.stream(active).map(s -> before[s]).toArray(),
                    Arrays.stream(active).map(s -> count[s]).toArray());
            var tokens = new int[step.rows][];
            for (int at = 0; at < active.length; at++) {
                int s = active[at];
                for (int i = 0; i < count[s]; i++) {
                    tokens[step.rowStart[at] + i] = new int[] {s, before[s] + i};
                }
                for (int p = 0; p < step.maxPages; p++) {
                    int end = before[s] + count[s];
                    boolean isKept = p >= end / PAGE - 1 || p == before[s] / PAGE - 1 || p == before[s] / PAGE;
                    int page = p * LENGTHS.length + (s + p) % LENGTHS.length;
                    for (int[] table : step.pageTable) {
                        table[at * step.maxPages + p] = isSparse && !isKept ? -1 : page;
                    }
                }
            }
            begin(step);
            return left(run(step, tokens), step.rows);
        }

        float[] left(Rows output, int rows) {
            return read(output, rows);
        }

        /** Numbers of all sequences' tokens as the rows of a step: those of all, once on the device, where the step's follow each other. */
        Rows rows(float[][] numbers, int columns, int[][] tokens) {
            int first = place(tokens[0]);
            if (IntStream.range(0, tokens.length).allMatch(r -> place(tokens[r]) == first + r)) {
                return all.computeIfAbsent(numbers, each -> placed(Floats.concatenate(each), columns))
                        .from(first);
            }
            var chosen = new float[tokens.length * columns];
            for (int r = 0; r < tokens.length; r++) {
                System.arraycopy(numbers[tokens[r][0]], tokens[r][1] * columns, chosen, r * columns, columns);
            }
            return placed(chosen, columns);
        }

        Rows placed(float[] numbers, int columns) {
            return StateContract.this.rows(numbers, columns);
        }
    }

    /** Where a token is among those of all sequences, one behind the other. */
    private static int place(int[] token) {
        return Arrays.stream(LENGTHS).limit(token[0]).sum() + token[1];
    }

    private float[][] numbers(int columns) {
        var numbers = new float[LENGTHS.length][];
        Arrays.setAll(numbers, s -> random(LENGTHS[s] * columns));
        return numbers;
    }

    private void checkAgainstRecurrence(Subject subject) {
        float[] all = subject.step(NONE, LENGTHS, false);
        int from = 0;
        for (int s = 0; s < LENGTHS.length; s++) {
            int end = from + LENGTHS[s] * subject.width;
            assertClose(Arrays.copyOfRange(all, from, end), subject.expected(s));
            from = end;
        }
    }

    private void checkBits(Subject subject) {
        float[] all = subject.step(NONE, LENGTHS, false);
        assertThat(subject.step(NONE, LENGTHS, true))
                .as("pages that nobody keeps")
                .isEqualTo(all);
        int first = 0;
        for (int s = 0; s < LENGTHS.length; s++) {
            for (int rows : new int[] {1, 3, 7, 16, 33}) {
                for (int from = 0; from < LENGTHS[s]; from += rows) {
                    var before = new int[LENGTHS.length];
                    var count = new int[LENGTHS.length];
                    before[s] = from;
                    count[s] = Math.min(rows, LENGTHS[s] - from);
                    int at = (first + from) * subject.width;
                    assertThat(subject.step(before, count, rows > 1))
                            .as("sequence %d from token %d on, by %d", s, from, rows)
                            .isEqualTo(Arrays.copyOfRange(all, at, at + count[s] * subject.width));
                }
            }
            first += LENGTHS[s];
        }
        checkLastRowsTogether(subject, all);
    }

    /** Each sequence's last row, all in one step. */
    private static void checkLastRowsTogether(Subject subject, float[] all) {
        int[] before = Arrays.stream(LENGTHS).map(length -> length - 1).toArray();
        int[] ones = new int[LENGTHS.length];
        Arrays.fill(ones, 1);
        float[] rows = subject.step(before, ones, false);
        int end = 0;
        for (int s = 0; s < LENGTHS.length; s++) {
            end += LENGTHS[s];
            assertThat(Arrays.copyOfRange(rows, s * subject.width, (s + 1) * subject.width))
                    .as("the last row of sequence %d", s)
                    .isEqualTo(Arrays.copyOfRange(all, (end - 1) * subject.width, end * subject.width));
        }
    }

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
