package roselle.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import roselle.api.GenerationRequest;
import roselle.batch.TokenConstraint;
import roselle.engine.SteppedLoop.Asked;

/** Requests most of which have runs of tokens that must come, and some of which are free. */
public final class ForcedRequests {
    private static final int REQUESTS = 18;

    private ForcedRequests() {}

    /** Lets one token alone follow where {@code period} does not divide the number of generated ones. */
    private record Runs(int vocabulary, int promptLength, int period, boolean isToldApart) implements TokenConstraint {
        private int only(int[] ids, int length) {
            int generated = length - promptLength;
            return generated % period == 0 ? NOT_FORCED : (31 * ids[length - 1] + generated) % vocabulary;
        }

        @Override
        public long[] mask(int[] ids, int length) {
            int only = only(ids, length);
            var mask = new long[(vocabulary + 63) / 64];
            for (int id = 0; id < vocabulary; id++) {
                mask[id / 64] |= only == NOT_FORCED || only == id ? 1L << id % 64 : 0;
            }
            return mask;
        }

        @Override
        public int forcedAfter(int[] ids, int length) {
            return isToldApart ? only(ids, length) : NOT_FORCED;
        }
    }

    /**
     * The requests.
     *
     * @param isToldApart whether the constraints say beside their masks that a token is the only one
     */
    public static List<Asked> of(int vocabulary, boolean isToldApart) {
        var all = new ArrayList<Asked>();
        for (int number = 0; number < REQUESTS; number++) {
            var random = new Random(number);
            int[] prompt = random.ints(1 + random.nextInt(50), 3, vocabulary).toArray();
            var request = GenerationRequest.builder()
                    .tokens(prompt)
                    .temperature(number % 4 == 0 ? 0 : 1)
                    .typicalP(number % 7 == 2 ? 0.8 : 1)
                    .frequencyPenalty(number % 5 == 3 ? 0.5 : 0)
                    .maxTokens(3 + random.nextInt(30))
                    .ignoreEos(true)
                    .build();
            int period = number % 6 == 5 ? 24 : 2 + number % 6; // longer than a chunk, too
            TokenConstraint constraint =
                    number % 3 == 0 ? TokenConstraint.NONE : new Runs(vocabulary, prompt.length, period, isToldApart);
            all.add(new Asked(request, constraint));
        }
        return all;
    }
}
