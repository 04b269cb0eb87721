package roselle.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.PriorityQueue;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.checkpoint.Checkpoint;
import roselle.testing.SharedData;

/** Both queues give merges in the order of a plain priority queue, whatever is added when. */
class MergeQueueTest {
    private static final int RANKS = 40;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void servesLowestRankThenLeftmost(long seed) {
        System.out.println("seed " + seed);
        var random = new Random(seed);
        var expected = new PriorityQueue<Long>();
        var heap = new MergeHeap(4);
        var buckets = new MergeBuckets(RANKS, 4);
        for (int step = 0; step < 20_000; step++) {
            if (random.nextInt(100) < (step / 2000 % 2 == 0 ? 60 : 40)) {
                int rank = random.nextInt(RANKS);
                int position = random.nextInt(1000);
                expected.add(((long) rank << 32) | position);
                heap.add(rank, position);
                buckets.add(rank, position);
            } else {
                long next = expected.isEmpty() ? MergeQueue.EMPTY : expected.remove();
                assertThat(heap.poll()).isEqualTo(next);
                assertThat(buckets.poll()).isEqualTo(next);
            }
        }
    }

    @Test
    @Tag("shared-data")
    void longPiecesAreTokenizedLikeTheirCopiesInShortOnes() {
        try (var checkpoint = Checkpoint.open(SharedData.path("vocab/ggml-vocab-gpt-2.gguf"))) {
            Tokenizer tokenizer = checkpoint.tokenizer();
            var random = new Random(5);
            var text = new StringBuilder();
            for (int i = 0; i < 30_000; i++) {
                text.append((char) ('a' + random.nextInt(26)));
            }
            String half = text.toString(); // below the length from which buckets are used; twice is above
            int[] once = tokenizer.encode(half + " " + half, EncodeOptions.PLAIN);
            int[] joined = tokenizer.encode(half + half, EncodeOptions.PLAIN);
            assertThat(tokenizer.decode(joined, false)).isEqualTo(half + half);
            assertThat(joined).startsWith(java.util.Arrays.copyOf(once, 10_000));
        }
    }
}
