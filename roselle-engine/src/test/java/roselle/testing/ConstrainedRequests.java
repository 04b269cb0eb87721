package roselle.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import roselle.api.GenerationRequest;
import roselle.batch.TokenConstraint;
import roselle.engine.SteppedLoop.Asked;

/** Requests of which some may have even tokens only, and some odd ones after even ones and the other way round. */
public final class ConstrainedRequests {
    private static final int REQUESTS = 18;
    private static final int KINDS = 3;

    private ConstrainedRequests() {}

    private static long[] parity(int vocabulary, int odd) {
        var mask = new long[(vocabulary + 63) / 64];
        for (int id = odd; id < vocabulary; id += 2) {
            mask[id / 64] |= 1L << id % 64;
        }
        return mask;
    }

    public static List<Asked> of(int vocabulary) {
        long[] even = parity(vocabulary, 0);
        long[] odd = parity(vocabulary, 1);
        TokenConstraint alternates = (ids, length) -> ids[length - 1] % 2 == 0 ? odd : even;
        TokenConstraint isEven = (ids, length) -> even;
        var all = new ArrayList<Asked>();
        for (int number = 0; number < REQUESTS; number++) {
            var random = new Random(number);
            int[] prompt = random.ints(1 + random.nextInt(50), 3, vocabulary).toArray();
            var request = GenerationRequest.builder()
                    .tokens(prompt)
                    .temperature(number % 4 == 0 ? 0 : 1)
                    .topK(number % 5 == 1 ? 20 : 0)
                    .typicalP(number % 7 == 2 ? 0.8 : 1)
                    .frequencyPenalty(number % 5 == 3 ? 0.5 : 0)
                    .maxTokens(3 + random.nextInt(30))
                    .ignoreEos(true)
                    .build();
            TokenConstraint constraint =
                    number % KINDS == 0 ? TokenConstraint.NONE : number % KINDS == 1 ? isEven : alternates;
            all.add(new Asked(request, constraint));
        }
        return all;
    }

    /** Checks that the constraints took effect, on those that have one alone. */
    public static void check(List<Asked> all, List<List<Integer>> answers) {
        boolean isAnyFree = false;
        for (int number = 0; number < REQUESTS; number++) {
            List<Integer> answer = answers.get(number);
            assertThat(answer)
                    .as("answer %d", number)
                    .hasSize(all.get(number).request().stop().maxTokens());
            switch (number % KINDS) {
                case 0 -> isAnyFree |= answer.stream().anyMatch(id -> id % 2 != 0);
                case 1 -> assertThat(answer).as("answer %d", number).allMatch(id -> id % 2 == 0);
                default -> {
                    for (int i = 1; i < answer.size(); i++) {
                        assertThat((answer.get(i - 1) + answer.get(i)) % 2)
                                .as("token %d of answer %d", i, number)
                                .isEqualTo(1);
                    }
                }
            }
        }
        assertThat(isAnyFree).as("an odd token where nothing forbids it").isTrue();
    }
}
