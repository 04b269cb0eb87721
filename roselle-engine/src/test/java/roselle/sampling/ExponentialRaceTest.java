package roselle.sampling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

final class ExponentialRaceTest {
    private static final long SEED = 20_261_122;
    private static final int DRAWS = 1 << 14;

    private static float[] logits(SplittableRandom random, int vocabulary, double spread) {
        var logits = new float[vocabulary];
        for (int id = 0; id < vocabulary; id++) {
            logits[id] = (float) (random.nextGaussian() * spread);
        }
        return logits;
    }

    private static float max(float[] logits) {
        float max = Float.NEGATIVE_INFINITY;
        for (float logit : logits) {
            max = Math.max(max, logit);
        }
        return max;
    }

    private static double[] probabilities(float[] logits, double temperature) {
        var probabilities = new double[logits.length];
        double total = 0;
        for (int id = 0; id < logits.length; id++) {
            probabilities[id] = Math.exp((logits[id] - max(logits)) / temperature);
            total += probabilities[id];
        }
        for (int id = 0; id < logits.length; id++) {
            probabilities[id] /= total;
        }
        return probabilities;
    }

    private static int draw(
            ExponentialRace race, float[] logits, float max, double temperature, long seed, int position) {
        race.start(seed, position);
        race.enterAll(logits, max, temperature);
        return race.winner();
    }

    /** The least noise / weight, with nothing left out. */
    private static int first(float[] logits, double temperature, long seed, int position) {
        int winner = -1;
        double best = Double.POSITIVE_INFINITY;
        for (int id = 0; id < logits.length; id++) {
            if (logits[id] != Float.NEGATIVE_INFINITY) {
                long bits = TokenNoise.spanBits(seed, position, id / 32);
                double time = TokenNoise.of(seed, position, id, bits)
                        / ExponentialRace.weight(logits[id], max(logits), temperature);
                winner = time < best ? id : winner;
                best = Math.min(best, time);
            }
        }
        return winner;
    }

    @Test
    void theFirstOfAllWinsThoughMostAreNotLookedAt() {
        var random = new SplittableRandom(SEED);
        for (int vocabulary : new int[] {1, 2, 31, 32, 33, 500, 1025}) {
            var race = new ExponentialRace(vocabulary);
            for (int round = 0; round < 60; round++) {
                float[] logits = logits(random, vocabulary, round % 6);
                for (int id = 1; id < vocabulary; id++) {
                    logits[id] = random.nextInt(4) < round % 4 ? Float.NEGATIVE_INFINITY : logits[id];
                }
                double temperature = 0.1 + round % 5;
                assertThat(draw(race, logits, max(logits), temperature, SEED, round))
                        .as("%d tokens, round %d", vocabulary, round)
                        .isEqualTo(first(logits, temperature, SEED, round));
            }
        }
    }

    @Test
    void theOrderInWhichTokensEnterDoesNotMatter() {
        var random = new SplittableRandom(SEED);
        var race = new ExponentialRace(300);
        for (int round = 0; round < 100; round++) {
            float[] logits = logits(random, 300, 2);
            int forwards = draw(race, logits, max(logits), 1, round, 9);
            race.start(round, 9);
            for (int id = 299; id >= 0; id--) {
                race.enter(id, ExponentialRace.weight(logits[id], max(logits), 1));
            }
            assertThat(race.winner()).isEqualTo(forwards);
        }
    }

    /** A draft model may have fewer tokens than the one that checks it. */
    @Test
    void tokensThatCannotBeDrawnChangeNothingForOthers() {
        var random = new SplittableRandom(SEED);
        var race = new ExponentialRace(300);
        for (int round = 0; round < 100; round++) {
            float[] logits = logits(random, 300, 2);
            int winner = draw(race, logits, max(logits), 1, SEED, round);
            for (int id = 0; id < 300; id++) {
                logits[id] = id % 3 == winner % 3 ? logits[id] : Float.NEGATIVE_INFINITY;
            }
            assertThat(draw(race, logits, max(logits), 1, SEED, round)).isEqualTo(winner);
            float[] fewer = Arrays.copyOf(logits, winner + 1);
            assertThat(draw(new ExponentialRace(winner + 1), fewer, max(fewer), 1, SEED, round))
                    .isEqualTo(winner);
        }
    }

    @Test
    void nothingWinsARaceThatNobodyEnters() {
        var race = new ExponentialRace(3);
        race.start(1, 1);
        assertThat(race.winner()).isEqualTo(-1);
    }

    /** Along one seed's positions, and along the seeds at one position; 3.29 deviations, one false alarm in a thousand seeds. */
    @Test
    void drawsFollowTheProbabilities() {
        var random = new SplittableRandom(SEED);
        float[] logits = logits(random, 100, 1);
        assertThat(chiSquare(logits, 0.7, DRAWS, false)).as("positions").isLessThan(3.29);
        assertThat(chiSquare(logits, 0.7, DRAWS, true)).as("seeds").isLessThan(3.29);
    }

    @Test
    @Tag("long")
    void manyDrawsFollowTheProbabilities() {
        var random = new SplittableRandom(SEED);
        for (double temperature : new double[] {0.5, 1.7}) {
            for (int vocabulary : new int[] {24, 500}) {
                float[] logits = logits(random, vocabulary, 1.5);
                for (boolean alongSeeds : new boolean[] {false, true}) {
                    assertThat(chiSquare(logits, temperature, 1 << 17, alongSeeds))
                            .as("%d tokens, temperature %s", vocabulary, temperature)
                            .isLessThan(3.29);
                }
            }
        }
    }

    /** How many deviations chi-square lies above its mean; tokens of which fewer than five are expected count as one. */
    private static double chiSquare(float[] logits, double temperature, int draws, boolean alongSeeds) {
        double[] probabilities = probabilities(logits, temperature);
        int[] counts = new int[logits.length];
        var race = new ExponentialRace(logits.length);
        float max = max(logits);
        for (int i = 0; i < draws; i++) {
            counts[draw(race, logits, max, temperature, alongSeeds ? i : SEED, alongSeeds ? 77 : i)]++;
        }
        double sum = 0;
        int freedom = -1;
        double rareExpected = 0;
        int rareCount = 0;
        for (int id = 0; id < logits.length; id++) {
            double expected = draws * probabilities[id];
            if (expected < 5) {
                rareExpected += expected;
                rareCount += counts[id];
            } else {
                sum += (counts[id] - expected) * (counts[id] - expected) / expected;
                freedom++;
            }
        }
        if (rareExpected > 0) {
            sum += (rareCount - rareExpected) * (rareCount - rareExpected) / rareExpected;
            freedom++;
        }
        return (sum - freedom) / Math.sqrt(2.0 * freedom);
    }

    /**
     * Two rows drawn with the same numbers: equal as often as noise promises, sum over i of 1 / sum over j of
     * max(p[j] / p[i], q[j] / q[i]), which is between (1 - TV) / (1 + TV) and 1 - TV.
     */
    @Test
    void twoModelsDrawTheSameTokenAsOftenAsNoiseAllows() {
        var random = new SplittableRandom(SEED);
        float[] target = logits(random, 80, 1.5);
        float[] draft = target.clone();
        for (int id = 0; id < draft.length; id++) {
            draft[id] += (float) random.nextGaussian();
        }
        double[] p = probabilities(target, 1);
        double[] q = probabilities(draft, 1);
        double shared = 0;
        double promised = 0;
        for (int i = 0; i < p.length; i++) {
            shared += Math.min(p[i], q[i]);
            double sum = 0;
            for (int j = 0; j < p.length; j++) {
                sum += Math.max(p[j] / p[i], q[j] / q[i]);
            }
            promised += 1 / sum;
        }
        assertThat(promised).isBetween(shared / (2 - shared), shared);
        var race = new ExponentialRace(80);
        int equal = 0;
        for (int position = 0; position < DRAWS; position++) {
            int drafted = draw(race, draft, max(draft), 1, SEED, position);
            equal += drafted == draw(race, target, max(target), 1, SEED, position) ? 1 : 0;
        }
        assertThat(equal / (double) DRAWS).isCloseTo(promised, within(4 * 0.5 / Math.sqrt(DRAWS)));
    }
}
