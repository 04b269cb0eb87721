package roselle.sampling;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.backend.LogitChanges;
import roselle.backend.StepLimits;
import roselle.backend.TokenDraws;

/** Tokens drawn from packed requests, as devices get them, are those that are sampled from plans. */
class DrawsTest {
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 5, 37, 100, 1000, 7001})
    void drawsWhatPlansSample(int vocabulary) {
        var cases = new DrawCases(vocabulary, vocabulary, 100);
        var sampler = new Sampler(vocabulary);
        for (int row = 0; row < cases.rows(); row++) {
            long bytes = 4L * vocabulary;
            sampler.draw(cases.logits().asSlice(row * bytes, bytes), cases.draws(), row);
            assertThat(cases.drawn(row))
                    .as("row %d of seed %d", row, vocabulary)
                    .isEqualTo(cases.expected(row));
        }
    }

    @Test
    void refusesWhatThereIsNoRoomFor() {
        LogitChanges changes = new TokenDraws(2, 10).changes;
        changes.begin(0);
        assertThat(changes.changes(0)).isFalse();
        changes.repetition[0] = 1.1f;
        int[] ids = IntStream.range(0, 7).toArray();
        assertThat(changes.remember(0, ids, 4, 7)).isTrue();
        assertThat(changes.bias(0, new int[] {1, 2}, new float[] {3, 4})).isFalse();
        assertThat(changes.forbid(0, new int[] {1, 2, 3})).isTrue();
        assertThat(changes.forbid(1, new int[] {1})).isFalse();
        changes.clear();
        changes.begin(0);
        changes.presence[0] = 1f; // sees the answer alone
        assertThat(changes.remember(0, ids, 4, 7)).isTrue();
        assertThat(changes.historyLength[0]).isEqualTo(3);
        assertThat(changes.promptLength[0]).isZero();
        assertThat(changes.mask(0, new long[] {1, 2})).as("at an even place").isTrue();
        assertThat(changes.maskAt[0]).isEqualTo(4);
    }

    @Test
    void hasRoomForContextsOfAllRowsWithinAFewMegabytes() {
        assertThat(LogitChanges.room(new StepLimits(64, 8, 8, 1000, 16))).isGreaterThan(8 * 1000);
        assertThat(LogitChanges.room(new StepLimits(64, 1024, 1088, 131_072, 16)))
                .isEqualTo(1 << 20);
    }
}
