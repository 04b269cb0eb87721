package roselle.backend;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.backend.memory.Buffer;
import roselle.backend.memory.KvCache;
import roselle.backend.memory.KvGroup;
import roselle.backend.memory.KvType;
import roselle.backend.memory.Rows;
import roselle.backend.operation.AttentionLayer;
import roselle.backend.operation.HeadShape;
import roselle.backend.operation.Norm;
import roselle.backend.operation.Rope;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepLimits;

/**
 * The contract of a device: each operation against a float64 reference. A backend's test extends this class and opens the
 * backend; what is here is rotation, the cache and attention, the rest is inherited.
 */
public abstract class BackendContract extends ProductsContract {
    private static final StepLimits LIMITS = new StepLimits(300, 4, 300, 320, 4);

    /** What varies in attention. */
    record Case(HeadShape heads, int window, float softCap, boolean sinks, boolean latent) {}

    static Stream<Arguments> attentions() {
        return Stream.of(
                        new Case(new HeadShape(4, 4, 16, 16), 0, 0f, false, false),
                        new Case(new HeadShape(6, 2, 24, 24), 0, 0f, false, false),
                        new Case(new HeadShape(4, 1, 7, 5), 0, 0f, false, false),
                        new Case(new HeadShape(4, 2, 33, 33), 16, 0f, false, false),
                        new Case(new HeadShape(2, 2, 64, 64), 100, 5f, false, false),
                        new Case(new HeadShape(4, 2, 16, 16), 3, 0f, true, false),
                        new Case(new HeadShape(8, 2, 128, 128), 0, 0f, true, false),
                        new Case(new HeadShape(4, 1, 28, 20), 0, 0f, false, true))
                .map(Arguments::of);
    }

    @ParameterizedTest
    @MethodSource("attentions")
    void attendsToItsSequenceAlone(Case kind) {
        int[] lengths = {1, 150, 70, 18}; // tokens of each sequence in the end
        int[] chunks = {1, 150, 1, 5}; // of which the last come in one step
        var sequences = new Sequences(kind, lengths);
        sequences.append(new int[] {0, 0, 0, 0}, new int[] {0, 0, 69, 13}, LIMITS, false);
        float[] attended = sequences.append(new int[] {0, 0, 69, 13}, chunks, LIMITS, true);
        assertClose(attended, sequences.expected(chunks));
    }

    @ParameterizedTest
    @MethodSource("attentions")
    void givesTheSameBitsHoweverTheContextWasCut(Case kind) {
        int[] lengths = {130};
        var whole = new Sequences(kind, lengths);
        float[] all = whole.append(new int[] {0}, new int[] {130}, LIMITS, true);
        var cut = new Sequences(kind, lengths);
        cut.keys = whole.keys;
        cut.values = whole.values;
        cut.queries = whole.queries;
        cut.sinks = whole.sinks;
        int width = kind.heads.queryHeads() * kind.heads.valueSize();
        for (int from = 0; from < 130; ) {
            int rows = Math.min(1 + from % 7, 130 - from);
            float[] part = cut.append(new int[] {from}, new int[] {rows}, LIMITS, true);
            assertThat(part)
                    .as("rows from %d", from)
                    .isEqualTo(Arrays.copyOfRange(all, from * width, (from + rows) * width));
            from += rows;
        }
    }

    /** Sequences with random queries, keys and values, whose pages lie in no order. */
    private final class Sequences {
        private final Case kind;
        private final int[] lengths;
        private final KvCache cache;
        private final int[][] pages; // [sequence][page]
        private float[][] queries; // [sequence][token * heads * size]
        private float[][] keys;
        private float[][] values;
        private float[] sinks;

        Sequences(Case kind, int[] lengths) {
            this.kind = kind;
            this.lengths = lengths;
            HeadShape heads = kind.heads;
            int valueSize = kind.latent ? 0 : heads.valueSize();
            var group = new KvGroup("test", 2, heads.keyHeads(), heads.keySize(), valueSize, kind.window);
            cache = device.allocateKvCache(List.of(group), KvType.F32, 4, new int[] {200});
            int next = 199;
            pages = new int[lengths.length][LIMITS.maxPages()];
            queries = new float[lengths.length][];
            keys = new float[lengths.length][];
            values = new float[lengths.length][];
            for (int s = 0; s < lengths.length; s++) {
                for (int p = 0; p * 4 < lengths[s]; p++) {
                    pages[s][p] = next--;
                }
                queries[s] = random(lengths[s] * heads.queryHeads() * heads.keySize());
                keys[s] = random(lengths[s] * heads.keyHeads() * heads.keySize());
                values[s] = random(lengths[s] * heads.keyHeads() * heads.valueSize());
            }
            sinks = random(heads.queryHeads());
        }

        /** Appends rows to each sequence; with {@code attends}, returns what attention gives them. */
        float[] append(int[] contexts, int[] newRows, StepLimits limits, boolean attends) {
            HeadShape heads = kind.heads;
            StepInputs inputs = step(limits, 1, contexts, newRows);
            for (int s = 0; s < lengths.length; s++) {
                System.arraycopy(pages[s], 0, inputs.pageTable[0], s * inputs.maxPages, inputs.maxPages);
                if (kind.window > 0) { // pages behind the window are gone
                    int gone = Math.max(0, contexts[s] + 1 - kind.window) / 4;
                    Arrays.fill(inputs.pageTable[0], s * inputs.maxPages, s * inputs.maxPages + gone, -1);
                }
            }
            begin(inputs);
            Buffer sinkLogits = kind.sinks ? device.constants(sinks) : null;
            var rope = new Rope(device.constants(new float[] {0f}), 1f, true); // an angle of zero
            var layer = new AttentionLayer(
                    0, 1, heads, kind.latent ? rope : null, null, null, 0.3f, kind.softCap, sinkLogits);
            Rows query = rows(part(queries, contexts, newRows), heads.queryHeads() * heads.keySize());
            Rows key = rows(part(keys, contexts, newRows), heads.keyHeads() * heads.keySize());
            if (kind.latent) {
                // a query head of 8 numbers of which the last 8 are rotated: the tail of what is absorbed
                float[] tails = tails(part(queries, contexts, newRows), heads);
                operations.ropeAndAppendLatent(rows(tails, heads.queryHeads() * 8), key, query, layer, cache);
            } else {
                Rows value = rows(part(values, contexts, newRows), heads.keyHeads() * heads.valueSize());
                operations.ropeAndAppendKv(query, key, value, layer, cache);
            }
            if (!attends) {
                return new float[0];
            }
            Rows output = poisoned(inputs.rows, heads.queryHeads() * heads.valueSize());
            operations.attention(query, layer, cache, output);
            return read(output, inputs.rows);
        }

        private float[] tails(float[] query, HeadShape heads) {
            int tail = heads.keySize() - heads.valueSize();
            var tails = new float[query.length / heads.keySize() * tail];
            for (int i = 0; i < tails.length; i++) {
                tails[i] = query[i / tail * heads.keySize() + heads.valueSize() + i % tail];
            }
            return tails;
        }

        private float[] part(float[][] all, int[] contexts, int[] newRows) {
            int count = 0;
            var parts = new float[all.length][];
            for (int s = 0; s < all.length; s++) {
                int width = all[s].length / lengths[s];
                parts[s] = Arrays.copyOfRange(all[s], contexts[s] * width, (contexts[s] + newRows[s]) * width);
                count += parts[s].length;
            }
            var joined = new float[Math.max(1, count)];
            int at = 0;
            for (float[] one : parts) {
                System.arraycopy(one, 0, joined, at, one.length);
                at += one.length;
            }
            return joined;
        }

        /** What the last rows of each sequence should get. */
        double[] expected(int[] newRows) {
            int size = kind.heads.queryHeads() * kind.heads.valueSize();
            var expected = new double[Arrays.stream(newRows).sum() * size];
            int row = 0;
            for (int s = 0; s < lengths.length; s++) {
                for (int p = lengths[s] - newRows[s]; p < lengths[s]; p++) {
                    for (int h = 0; h < kind.heads.queryHeads(); h++) {
                        double[] one = attended(s, p, h);
                        System.arraycopy(one, 0, expected, row * size + h * one.length, one.length);
                    }
                    row++;
                }
            }
            return expected;
        }

        private double[] attended(int s, int position, int h) {
            HeadShape heads = kind.heads;
            int keyHead = h / (heads.queryHeads() / heads.keyHeads());
            int first = kind.window == 0 ? 0 : Math.max(0, position + 1 - kind.window);
            var sum = new double[heads.valueSize()];
            double total = kind.sinks ? Math.exp(sinks[h]) : 0;
            for (int p = first; p <= position; p++) {
                double score = 0;
                for (int i = 0; i < heads.keySize(); i++) {
                    double query = queries[s][(position * heads.queryHeads() + h) * heads.keySize() + i];
                    score += query * keys[s][(p * heads.keyHeads() + keyHead) * heads.keySize() + i];
                }
                score *= 0.3f;
                double capped = kind.softCap == 0 ? score : kind.softCap * Math.tanh(score / kind.softCap);
                double weight = Math.exp(capped);
                total += weight;
                for (int i = 0; i < sum.length; i++) {
                    float value = kind.latent
                            ? keys[s][p * heads.keySize() + i]
                            : values[s][(p * heads.keyHeads() + keyHead) * sum.length + i];
                    sum[i] += weight * value;
                }
            }
            for (int i = 0; i < sum.length; i++) {
                sum[i] /= total;
            }
            return sum;
        }
    }

    @Test
    void rotatesNeighboursHalvesAndPartsOfHeadsByTheirPosition() {
        int size = 12;
        var heads = new HeadShape(2, 1, size, 3);
        float[] frequencies = {1f, 0.25f, 0.01f};
        var group = new KvGroup("test", 1, 1, size, 3, 0);
        KvCache cache = device.allocateKvCache(List.of(group), KvType.F32, 4, new int[] {80});
        StepInputs inputs = step(LIMITS, 1, new int[] {37}, new int[] {3});
        Arrays.setAll(inputs.pageTable[0], i -> i % 80);
        begin(inputs);
        for (boolean interleaved : new boolean[] {true, false}) {
            for (boolean normed : new boolean[] {true, false}) {
                float[] query = random(3 * 2 * size);
                float[] weight = random(2 * size); // a part for each head
                Norm norm = normed ? new Norm(Norm.Kind.RMS, device.constants(weight), 0f, null, 1e-6f) : null;
                var rope = new Rope(device.constants(frequencies), 1.5f, interleaved);
                var layer = new AttentionLayer(0, 0, heads, rope, norm, null, 1f, 0f, null);
                Rows rotated = rows(query, 2 * size);
                operations.ropeAndAppendKv(rotated, rows(random(3 * size), size), rows(random(9), 3), layer, cache);
                double[] expected = headNormed(query, normed ? weight : null, size);
                for (int head = 0; head < 6; head++) {
                    rotate(expected, head * size, frequencies, 37 + head / 2, interleaved);
                }
                assertClose(read(rotated, 3), expected);
            }
        }
    }

    private static double[] headNormed(float[] query, float @Nullable [] weight, int size) {
        double[] normed = doubles(query);
        for (int head = 0; weight != null && head < query.length / size; head++) {
            double squares = 0;
            for (int i = head * size; i < (head + 1) * size; i++) {
                squares += normed[i] * normed[i] / size;
            }
            for (int i = 0; i < size; i++) {
                normed[head * size + i] *= weight[head % 2 * size + i] / Math.sqrt(squares + 1e-6f);
            }
        }
        return normed;
    }

    private static void rotate(double[] numbers, int at, float[] frequencies, int position, boolean interleaved) {
        for (int i = 0; i < frequencies.length; i++) {
            double angle = position * frequencies[i];
            int one = at + (interleaved ? 2 * i : i);
            int other = at + (interleaved ? 2 * i + 1 : i + frequencies.length);
            double x = numbers[one];
            double y = numbers[other];
            numbers[one] = 1.5 * (x * Math.cos(angle) - y * Math.sin(angle));
            numbers[other] = 1.5 * (y * Math.cos(angle) + x * Math.sin(angle));
        }
    }

    @Test
    void readsACopiedPageAsItsOriginal() {
        var kind = new Case(new HeadShape(2, 1, 16, 16), 0, 0f, false, false);
        var sequences = new Sequences(kind, new int[] {10});
        sequences.append(new int[] {0}, new int[] {9}, LIMITS, false);
        float[] original = sequences.append(new int[] {9}, new int[] {1}, LIMITS, true);
        device.copyPage(sequences.cache, 0, sequences.pages[0][1], 7);
        sequences.pages[0][1] = 7;
        assertThat(sequences.append(new int[] {9}, new int[] {1}, LIMITS, true)).isEqualTo(original);
    }
}
