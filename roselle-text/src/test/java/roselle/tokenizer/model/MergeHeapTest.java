package roselle.tokenizer.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.PriorityQueue;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The heap gives merges in the order of a plain priority queue, whatever is added when. */
class MergeHeapTest {
    private static final int RANKS = 40;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void servesLowestRankThenLeftmost(long seed) {
        System.out.println("seed " + seed);
        var random = new Random(seed);
        var expected = new PriorityQueue<Long>();
        var heap = new MergeHeap(4);
        for (int step = 0; step < 20_000; step++) {
            if (random.nextInt(100) < (step / 2000 % 2 == 0 ? 60 : 40)) {
                int rank = random.nextInt(RANKS);
                int position = random.nextInt(1000);
                expected.add(((long) rank << 32) | position);
                heap.add(rank, position);
            } else {
                assertThat(heap.poll()).isEqualTo(expected.isEmpty() ? MergeHeap.EMPTY : expected.remove());
            }
        }
    }
}
