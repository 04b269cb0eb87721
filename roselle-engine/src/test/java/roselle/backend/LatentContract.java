package roselle.backend;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.backend.memory.KvCache;
import roselle.backend.memory.KvGroup;
import roselle.backend.memory.KvType;
import roselle.backend.memory.Rows;
import roselle.backend.operation.AttentionLayer;
import roselle.backend.operation.HeadShape;
import roselle.backend.operation.Rope;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepLimits;

/** Latent attention in the sizes that models have: 512 numbers of value, 64 behind them, on pages of 16 tokens. */
public abstract class LatentContract extends ReferenceContract {
    private static final int VALUE = 512;
    private static final int TURNED = 64;
    private static final int KEY = VALUE + TURNED;
    private static final int PAGE = 16;
    private static final int[] LENGTHS = {1, 64, 65, 300};
    private static final StepLimits LIMITS = new StepLimits(500, LENGTHS.length, 500, 320, PAGE);
    private static final float SCALE = 0.05f;
    private static final int TOKENS_FROM_CHECK_TO_CHECK = 13; // against float64, which takes time

    @ParameterizedTest
    @ValueSource(ints = {16, 40})
    void latentRowsAreRightAndHaveTheSameBitsAloneInABatchAndInAPrompt(int heads) {
        var whole = new Latents(heads);
        int[] none = new int[LENGTHS.length];
        float[] prompt = whole.attend(none, LENGTHS);
        for (int s = 0; s < LENGTHS.length; s++) {
            for (int token = LENGTHS[s] - 1; token >= 0; token -= TOKENS_FROM_CHECK_TO_CHECK) {
                assertClose(whole.part(prompt, s, token), whole.expected(s, token));
            }
        }

        var cut = new Latents(heads);
        int[] before = Arrays.stream(LENGTHS).map(length -> length / 3 * 2).toArray();
        cut.attend(none, before);
        for (int s = 0; s < LENGTHS.length; s++) { // alone
            int[] one = new int[LENGTHS.length];
            one[s] = 1;
            for (int end = Math.min(before[s] + 2, LENGTHS[s]); before[s] < end; before[s]++) {
                assertSame(cut.attend(before, one), prompt, whole, s, before[s]);
            }
        }
        int[] ones = Arrays.stream(LENGTHS).map(length -> length > 1 ? 1 : 0).toArray();
        for (int step = 0; step < 2; step++) { // together
            float[] rows = cut.attend(before, ones);
            int width = heads * VALUE;
            int row = 0;
            for (int s = 0; s < LENGTHS.length; s++) {
                if (ones[s] > 0) {
                    assertSame(Arrays.copyOfRange(rows, row * width, (row + 1) * width), prompt, whole, s, before[s]);
                    row++;
                    before[s]++;
                }
            }
        }
    }

    private static void assertSame(float[] row, float[] prompt, Latents of, int sequence, int token) {
        assertThat(row)
                .as("token %d of sequence %d, seed %d", token, sequence, SEED)
                .isEqualTo(of.part(prompt, sequence, token));
    }

    /** Sequences with random queries and latent rows, the same for one number of heads, whose pages lie in no order. */
    private final class Latents {
        private final HeadShape heads;
        private final KvCache cache;
        private final AttentionLayer layer;
        private final float[][] queries = new float[LENGTHS.length][];
        private final float[][] latents = new float[LENGTHS.length][];

        Latents(int queryHeads) {
            heads = new HeadShape(queryHeads, 1, KEY, VALUE);
            var group = new KvGroup("latent", 2, 1, KEY, 0, 0);
            int pages = LENGTHS.length * LIMITS.maxPages();
            cache = device.allocateKvCache(List.of(group), KvType.of(device.activationType()), PAGE, new int[] {pages});
            var rope = new Rope(device.constants(new float[TURNED / 2]), 1f, true); // an angle of zero
            layer = new AttentionLayer(0, 1, heads, rope, null, null, SCALE, 0f, null);
            var numbers = new Random(SEED);
            for (int s = 0; s < LENGTHS.length; s++) {
                queries[s] = gaussian(numbers, LENGTHS[s] * queryHeads * KEY);
                latents[s] = gaussian(numbers, LENGTHS[s] * KEY);
            }
        }

        private static float[] gaussian(Random numbers, int count) {
            var all = new float[count];
            for (int i = 0; i < count; i++) {
                all[i] = (float) numbers.nextGaussian();
            }
            return all;
        }

        /** Appends rows to each sequence, and returns what attention gives them. */
        float[] attend(int[] contexts, int[] rows) {
            StepInputs inputs = step(LIMITS, 1, contexts, rows);
            Arrays.setAll(inputs.pageTable[0], i -> i % inputs.maxPages * LENGTHS.length + i / inputs.maxPages);
            begin(inputs);
            int width = heads.queryHeads() * VALUE;
            Rows absorbed = gapless(part(queries, contexts, rows, heads.queryHeads() * KEY), heads.queryHeads() * KEY);
            Rows query = gapless(tails(readGapless(absorbed, inputs.rows)), heads.queryHeads() * TURNED);
            Rows latent = gapless(part(latents, contexts, rows, KEY), KEY);
            operations.ropeAndAppendLatent(query, latent, absorbed, layer, cache);
            var poison = new float[inputs.rows * width];
            Arrays.fill(poison, Float.NaN);
            Rows output = gapless(poison, width);
            operations.attention(absorbed, layer, cache, output);
            return readGapless(output, inputs.rows);
        }

        private static float[] tails(float[] query) {
            var tails = new float[query.length / KEY * TURNED];
            for (int i = 0; i < tails.length; i++) {
                tails[i] = query[i / TURNED * KEY + VALUE + i % TURNED];
            }
            return tails;
        }

        private static float[] part(float[][] all, int[] contexts, int[] rows, int width) {
            var joined = new float[Arrays.stream(rows).sum() * width];
            int at = 0;
            for (int s = 0; s < all.length; s++) {
                System.arraycopy(all[s], contexts[s] * width, joined, at, rows[s] * width);
                at += rows[s] * width;
            }
            return joined;
        }

        /** What a prompt of all sequences gave to a token. */
        float[] part(float[] prompt, int s, int token) {
            int width = heads.queryHeads() * VALUE;
            int first = Arrays.stream(LENGTHS).limit(s).sum() + token;
            return Arrays.copyOfRange(prompt, first * width, (first + 1) * width);
        }

        double[] expected(int s, int token) {
            var all = new double[heads.queryHeads() * VALUE];
            for (int head = 0; head < heads.queryHeads(); head++) {
                attend(s, token, head, all, head * VALUE);
            }
            return all;
        }

        private void attend(int s, int token, int head, double[] all, int at) {
            double total = 0;
            for (int position = 0; position <= token; position++) {
                double score = 0;
                for (int i = 0; i < KEY; i++) {
                    score += (double) queries[s][(token * heads.queryHeads() + head) * KEY + i]
                            * latents[s][position * KEY + i];
                }
                double weight = Math.exp(score * SCALE);
                total += weight;
                for (int i = 0; i < VALUE; i++) {
                    all[at + i] += weight * latents[s][position * KEY + i];
                }
            }
            for (int i = 0; i < VALUE; i++) {
                all[at + i] /= total;
            }
        }
    }
}
