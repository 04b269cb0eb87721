package roselle.sampling;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.sampling.OneRow.History;

/** The sampler beside penalties as they are defined: for each token by itself, from a list of those in the window. */
class PenaltyWindowTest {
    private static final int VOCABULARY = 12;
    private static final int ROWS = 400;

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 5, 20, Integer.MAX_VALUE})
    void punishesWhatWasSaidInTheWindow(int window) {
        var random = new Random(window);
        var one = new OneRow(new Sampler(VOCABULARY));
        int differ = 0;
        for (int row = 0; row < ROWS; row++) {
            var plans = new Plans();
            plans.temperature = 0;
            plans.repetition = random.nextInt(3) == 0 ? 1 : 0.7 + random.nextDouble();
            plans.presence = random.nextInt(3) == 0 ? 0 : random.nextDouble() * 2 - 0.5;
            plans.frequency = random.nextInt(3) == 0 ? 0 : random.nextDouble();
            plans.penaltyWindow = window;
            plans.penalizesPrompt = random.nextBoolean();
            float[] logits = new float[VOCABULARY];
            for (int id = 0; id < VOCABULARY; id++) {
                logits[id] = (float) random.nextGaussian() * 2;
            }
            List<Integer> said = random.ints(30, 0, VOCABULARY)
                    .limit(2 + random.nextInt(28))
                    .boxed()
                    .toList();
            int prompt = 1 + random.nextInt(said.size());

            int[] ids = said.stream().mapToInt(Integer::intValue).toArray();
            int token = one.sample(
                    MemorySegment.ofArray(logits), 0, plans.plan(VOCABULARY), new History(ids, prompt, ids.length));

            assertThat(token).as("row %d", row).isEqualTo(likeliest(plans, logits, said, prompt));
            plans.penaltyWindow = Integer.MAX_VALUE;
            differ += token == likeliest(plans, logits, said, prompt) ? 0 : 1;
        }
        if (window < 20) {
            assertThat(differ).as("rows in which the window matters").isGreaterThan(ROWS / 20);
        }
    }

    private static int likeliest(Plans plans, float[] logits, List<Integer> said, int prompt) {
        int first = (int) Math.max(0, said.size() - (long) plans.penaltyWindow);
        List<Integer> seen = said.subList(first, said.size());
        List<Integer> answered = plans.penalizesPrompt ? seen : said.subList(Math.max(first, prompt), said.size());
        int best = 0;
        float most = Float.NEGATIVE_INFINITY;
        for (int id = 0; id < VOCABULARY; id++) {
            float x = logits[id];
            if (seen.contains(id)) {
                x = x > 0 ? x / (float) plans.repetition : x * (float) plans.repetition;
            }
            int times = Collections.frequency(answered, id);
            x -= (float) plans.frequency * times;
            x -= times > 0 ? (float) plans.presence : 0;
            if (x > most) {
                most = x;
                best = id;
            }
        }
        return best;
    }
}
