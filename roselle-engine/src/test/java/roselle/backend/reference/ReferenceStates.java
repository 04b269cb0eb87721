package roselle.backend.reference;

import java.util.Arrays;
import roselle.backend.Float64;
import roselle.backend.memory.Rows;
import roselle.backend.operation.Activation;
import roselle.backend.operation.Convolution;
import roselle.backend.operation.DeltaHeads;
import roselle.backend.operation.DeltaRule;
import roselle.backend.operation.SelectiveScan;
import roselle.backend.step.StepInputs;

/** Operations that go on from states, token by token as their recurrences say, in float64. */
final class ReferenceStates {
    private final StepInputs step;
    private final ReferenceCache cache;

    ReferenceStates(StepInputs step, ReferenceCache cache) {
        this.step = step;
        this.cache = cache;
    }

    void convolve(Rows input, Convolution convolution, Rows output) {
        float[] weight = ReferenceBuffer.of(convolution.weight());
        int channels = convolution.channels();
        for (int s = 0; s < step.sequences; s++) {
            for (int r = step.rowStart[s]; r < step.rowStart[s + 1]; r++) {
                float[] target = ReferenceBuffer.of(output.buffer());
                for (int c = 0; c < channels; c++) {
                    double sum = convolution.bias() == null ? 0 : ReferenceBuffer.of(convolution.bias())[c];
                    for (int t = 0; t < convolution.taps(); t++) {
                        int position = step.positions[r] - convolution.taps() + 1 + t;
                        sum += (double) weight[t * channels + c] * input(input, convolution, s, position, c);
                    }
                    target[ReferenceBuffer.at(output, r) + c] =
                            (float) Float64.activation(convolution.activation(), sum);
                }
            }
            for (int r = step.rowStart[s]; r < step.rowStart[s + 1]; r++) {
                int page = page(convolution.group(), s, step.positions[r] / step.pageTokens);
                if (page >= 0) {
                    float[] row = ReferenceBuffer.row(input, r);
                    float[] kept = cache.key(convolution.group(), convolution.layer(), page, 0, step.positions[r]);
                    System.arraycopy(row, 0, kept, 0, channels);
                }
            }
        }
    }

    private double input(Rows input, Convolution convolution, int sequence, int position, int channel) {
        int before = step.contextLength[sequence];
        if (position < 0) {
            return 0;
        }
        if (position >= before) {
            return ReferenceBuffer.row(input, step.rowStart[sequence] + position - before)[channel];
        }
        int page = page(convolution.group(), sequence, position / step.pageTokens);
        return cache.key(convolution.group(), convolution.layer(), page, 0, position)[channel];
    }

    void deltaRule(Rows query, Rows key, Rows value, Rows a, Rows b, DeltaRule rule, Rows output) {
        for (int s = 0; s < step.sequences; s++) {
            for (int h = 0; h < rule.heads().valueHeads(); h++) {
                new Head(rule, h, s).run(query, key, value, a, b, output);
            }
        }
    }

    void selectiveScan(Rows x, Rows times, Rows b, Rows c, SelectiveScan scan, Rows output) {
        for (int s = 0; s < step.sequences; s++) {
            var state = new double[scan.stateSize()][scan.channels()];
            readScan(scan, s, state);
            for (int r = step.rowStart[s]; r < step.rowStart[s + 1]; r++) {
                var time = new double[scan.channels()];
                var timed = new double[scan.channels()];
                for (int d = 0; d < time.length; d++) {
                    double a = ReferenceBuffer.row(times, r)[d] + (double) ReferenceBuffer.of(scan.timeBias())[d];
                    time[d] = Math.max(a, 0) + Math.log1p(Math.exp(-Math.abs(a)));
                    timed[d] = time[d] * ReferenceBuffer.row(x, r)[d];
                }
                advance(scan, state, time, timed, ReferenceBuffer.row(b, r), 0);
                float[] asked = ReferenceBuffer.row(c, r);
                for (int d = 0; d < time.length; d++) {
                    double sum = (double) ReferenceBuffer.of(scan.skip())[d] * ReferenceBuffer.row(x, r)[d];
                    for (int n = 0; n < asked.length; n++) {
                        sum += asked[n] * state[n][d];
                    }
                    ReferenceBuffer.of(output.buffer())[ReferenceBuffer.at(output, r) + d] = (float) sum;
                }
                keepScan(scan, s, step.positions[r], time, timed, ReferenceBuffer.row(b, r), state);
            }
        }
    }

    private static void advance(
            SelectiveScan scan, double[][] state, double[] time, double[] timed, float[] written, int from) {
        float[] rate = ReferenceBuffer.of(scan.rate());
        for (int n = 0; n < state.length; n++) {
            for (int d = 0; d < time.length; d++) {
                state[n][d] =
                        Math.exp(rate[n * time.length + d] * time[d]) * state[n][d] + timed[d] * written[from + n];
            }
        }
    }

    /** The state behind the page before, and the rows since. */
    private void readScan(SelectiveScan scan, int sequence, double[][] state) {
        int channels = scan.channels();
        int first = step.contextLength[sequence];
        int index = first / step.pageTokens;
        if (index > 0) {
            float[] numbers = cache.state(scan.group(), scan.layer(), page(scan.group(), sequence, index - 1));
            for (int n = 0; n < state.length; n++) {
                for (int d = 0; d < channels; d++) {
                    state[n][d] = numbers[n * channels + d];
                }
            }
        }
        for (int p = index * step.pageTokens; p < first; p++) {
            float[] row = cache.key(scan.group(), scan.layer(), page(scan.group(), sequence, index), 0, p);
            var time = new double[channels];
            var timed = new double[channels];
            Arrays.setAll(time, d -> row[d]);
            Arrays.setAll(timed, d -> row[channels + d]);
            advance(scan, state, time, timed, row, 2 * channels);
        }
    }

    private void keepScan(
            SelectiveScan scan,
            int sequence,
            int position,
            double[] time,
            double[] timed,
            float[] b,
            double[][] state) {
        int page = page(scan.group(), sequence, position / step.pageTokens);
        if (page < 0) {
            return;
        }
        int channels = scan.channels();
        float[] row = cache.key(scan.group(), scan.layer(), page, 0, position);
        for (int d = 0; d < channels; d++) {
            row[d] = (float) time[d];
            row[channels + d] = (float) timed[d];
        }
        System.arraycopy(b, 0, row, 2 * channels, state.length);
        if (position % step.pageTokens == step.pageTokens - 1) {
            float[] numbers = cache.state(scan.group(), scan.layer(), page);
            for (int n = 0; n < state.length; n++) {
                for (int d = 0; d < channels; d++) {
                    numbers[n * channels + d] = (float) state[n][d];
                }
            }
        }
    }

    /** A value head of one sequence in a step, and its state token by token. */
    private final class Head {
        private final DeltaRule rule;
        private final DeltaHeads heads;
        private final int head;
        private final int keyHead;
        private final int sequence;
        private final double[][] state;

        Head(DeltaRule rule, int head, int sequence) {
            this.rule = rule;
            heads = rule.heads();
            this.head = head;
            this.sequence = sequence;
            keyHead = heads.takesTurns() ? head % heads.keyHeads() : head * heads.keyHeads() / heads.valueHeads();
            state = new double[heads.keySize()][heads.valueSize()];
        }

        void run(Rows query, Rows key, Rows value, Rows a, Rows b, Rows output) {
            int first = step.contextLength[sequence];
            readState(first);
            double sum = first % step.pageTokens == 0 || heads.decaysByChannel() ? 0 : row(first - 1)[sumAt()];
            for (int r = step.rowStart[sequence]; r < step.rowStart[sequence + 1]; r++) {
                int position = step.positions[r];
                sum = position % step.pageTokens == 0 ? 0 : sum;
                if (heads.decaysByChannel()) {
                    advance(r, decays(ReferenceBuffer.row(a, r)), query, key, value, b, output);
                    continue;
                }
                double time = time(ReferenceBuffer.row(a, r)[head], head);
                double decay = ReferenceBuffer.of(rule.rate())[head] * time;
                sum += decay;
                if (rule.space() != null) {
                    advance(rule.space(), r, time, decay, query, key, value, output);
                    keep(position, numbers(ReferenceBuffer.row(key, r)), timed(value, r, time), sum);
                    continue;
                }
                var decays = new double[heads.keySize()];
                Arrays.fill(decays, Math.exp(decay));
                double[] k = unit(ReferenceBuffer.row(key, r));
                keep(position, k, corrected(r, decays, k, query, value, b, output), sum);
            }
        }

        /** A token whose channels decay by themselves. */
        private void advance(int r, double[] decays, Rows query, Rows key, Rows value, Rows b, Rows output) {
            double[] k = unit(ReferenceBuffer.row(key, r));
            keep(step.positions[r], k, corrected(r, decays, k, query, value, b, output), decays);
        }

        private double[] decays(float[] a) {
            var decays = new double[heads.keySize()];
            int first = head * heads.keySize();
            double rate = ReferenceBuffer.of(rule.rate())[head];
            float[] bias = ReferenceBuffer.of(rule.timeBias());
            Arrays.setAll(
                    decays,
                    i -> Math.exp(
                            rule.least() == 0
                                    ? rate * time(a[first + i], first + i)
                                    : rule.least() / (1 + Math.exp(rate * ((double) a[first + i] + bias[first + i])))));
            return decays;
        }

        /** The corrections of a token, behind which the state is the next one and the output is written. */
        private double[] corrected(int r, double[] decays, double[] k, Rows query, Rows value, Rows b, Rows output) {
            double beta = rule.strength() * Float64.activation(Activation.LOGISTIC, ReferenceBuffer.row(b, r)[head]);
            double[] q = unit(ReferenceBuffer.row(query, r));
            float[] values = ReferenceBuffer.row(value, r);
            var corrections = new double[heads.valueSize()];
            for (int c = 0; c < corrections.length; c++) {
                double seen = 0;
                for (int i = 0; i < k.length; i++) {
                    state[i][c] *= decays[i];
                    seen += state[i][c] * k[i];
                }
                corrections[c] = beta * (values[head * heads.valueSize() + c] - seen);
                double sumOfQuery = 0;
                for (int i = 0; i < k.length; i++) {
                    state[i][c] += k[i] * corrections[c];
                    sumOfQuery += state[i][c] * q[i];
                }
                ReferenceBuffer.of(output.buffer())[ReferenceBuffer.at(output, r) + head * heads.valueSize() + c] =
                        (float) (sumOfQuery / Math.sqrt(heads.keySize()));
            }
            return corrections;
        }

        /** The state behind the token before a position: that behind the page before it, and the rows since. */
        private void readState(int position) {
            int pageIndex = position / step.pageTokens;
            if (pageIndex > 0) {
                int page = page(rule.group(), sequence, pageIndex - 1);
                float[] numbers = cache.state(rule.group(), rule.layer(), page);
                for (int i = 0; i < heads.keySize(); i++) {
                    for (int c = 0; c < heads.valueSize(); c++) {
                        state[i][c] = numbers[head * heads.headState() + i * heads.valueSize() + c];
                    }
                }
            }
            double before = 0;
            for (int p = pageIndex * step.pageTokens; p < position; p++) {
                float[] row = row(p);
                double decay = heads.decaysByChannel() ? 0 : Math.exp(row[sumAt()] - before);
                before = heads.decaysByChannel() ? 0 : row[sumAt()];
                for (int i = 0; i < heads.keySize(); i++) {
                    for (int c = 0; c < heads.valueSize(); c++) {
                        state[i][c] = state[i][c] * (heads.decaysByChannel() ? row[decaysAt() + i] : decay)
                                + (double) row[keyHead * heads.keySize() + i] * row[correctionAt() + c];
                    }
                }
            }
        }

        private void keep(int position, double[] key, double[] corrections, double sum) {
            keep(position, key, corrections, new double[] {sum});
        }

        /** Keeps what a token leaves: of its decays the sum, or each. */
        private void keep(int position, double[] key, double[] corrections, double[] decays) {
            int page = page(rule.group(), sequence, position / step.pageTokens);
            if (page < 0) {
                return;
            }
            float[] row = row(position);
            for (int i = 0; i < key.length; i++) {
                row[keyHead * key.length + i] = (float) key[i];
            }
            for (int c = 0; c < corrections.length; c++) {
                row[correctionAt() + c] = (float) corrections[c];
            }
            for (int i = 0; i < decays.length; i++) {
                row[(heads.decaysByChannel() ? decaysAt() : sumAt()) + i] = (float) decays[i];
            }
            if (position % step.pageTokens == step.pageTokens - 1) {
                float[] numbers = cache.state(rule.group(), rule.layer(), page);
                for (int i = 0; i < heads.keySize(); i++) {
                    for (int c = 0; c < heads.valueSize(); c++) {
                        numbers[head * heads.headState() + i * heads.valueSize() + c] = (float) state[i][c];
                    }
                }
            }
        }

        private float[] row(int position) {
            int page = page(rule.group(), sequence, position / step.pageTokens);
            return cache.key(rule.group(), rule.layer(), page, 0, position);
        }

        private int correctionAt() {
            return heads.keys() + head * heads.valueSize();
        }

        private int sumAt() {
            return heads.keys() + heads.values() + head;
        }

        private int decaysAt() {
            return heads.keys() + heads.values() + head * heads.keySize();
        }

        /** A token of a state space: the state decays, takes in the token's value, and is read. */
        private void advance(
                DeltaRule.Space space,
                int r,
                double time,
                double decay,
                Rows query,
                Rows key,
                Rows value,
                Rows output) {
            double[] k = numbers(ReferenceBuffer.row(key, r));
            double[] q = numbers(ReferenceBuffer.row(query, r));
            double[] timed = timed(value, r, time);
            double skip = ReferenceBuffer.of(space.skip())[head];
            for (int c = 0; c < timed.length; c++) {
                int column = head * heads.valueSize() + c;
                double sum = skip * ReferenceBuffer.row(value, r)[column];
                for (int i = 0; i < k.length; i++) {
                    state[i][c] = state[i][c] * Math.exp(decay) + k[i] * timed[c];
                    sum += state[i][c] * q[i];
                }
                ReferenceBuffer.of(output.buffer())[ReferenceBuffer.at(output, r) + column] = (float) sum;
            }
        }

        private double[] timed(Rows value, int r, double time) {
            float[] row = ReferenceBuffer.row(value, r);
            var timed = new double[heads.valueSize()];
            Arrays.setAll(timed, c -> time * row[head * heads.valueSize() + c]);
            return timed;
        }

        private double time(double a, int bias) {
            double x = a + ReferenceBuffer.of(rule.timeBias())[bias];
            double time = Math.log1p(Math.exp(-Math.abs(x))) + Math.max(x, 0);
            DeltaRule.Space space = rule.space();
            return space == null ? time : Math.clamp(time, space.shortest(), space.longest());
        }

        private double[] numbers(float[] row) {
            var numbers = new double[heads.keySize()];
            Arrays.setAll(numbers, i -> row[keyHead * numbers.length + i]);
            return numbers;
        }

        private double[] unit(float[] row) {
            double[] numbers = numbers(row);
            double squares = 0;
            for (double number : numbers) {
                squares += number * number;
            }
            for (int i = 0; i < numbers.length; i++) {
                numbers[i] /= Math.sqrt(squares + DeltaRule.EPSILON);
            }
            return numbers;
        }
    }

    private int page(int group, int sequence, int index) {
        return step.pageTable[group][sequence * step.maxPages + index];
    }
}
