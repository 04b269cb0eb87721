package roselle.sampling;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.backend.step.SamplingRows;
import roselle.backend.step.SamplingRows.Place;
import roselle.backend.step.StepLimits;

/** What plans write to rows, and who samples them. */
class SamplingRowsTest {
    private static final int[] IDS = {1, 2, 3, 4, 5, 6, 7};
    private static final int PROMPT = 4;

    private static void fill(SamplingRows rows, int row, Plans plans) {
        plans.plan(100).fill(rows, row, IDS, PROMPT, IDS.length);
    }

    private static Place place(SamplingRows rows, int row, Plans plans) {
        fill(rows, row, plans);
        rows.settlePlace(row);
        return rows.place[row];
    }

    @Test
    void theDeviceSamplesWhatThereIsRoomFor() {
        var rows = new SamplingRows(4, 11);
        rows.begin(4);
        var repetition = new Plans();
        repetition.repetition = 1.1; // sees prompt and answer
        assertThat(place(rows, 0, repetition)).isEqualTo(Place.DEVICE);
        var biases = new Plans();
        biases.bias = Map.of(1, 3f, 2, 4f, 3, 5f);
        assertThat(place(rows, 1, biases)).as("6 numbers, room for 4").isEqualTo(Place.HOST);
        var stops = new Plans();
        stops.stopIds = Set.of(1, 2, 3, 8);
        stops.minTokens = 4;
        assertThat(place(rows, 2, stops)).isEqualTo(Place.DEVICE);
        stops.minTokens = 3;
        assertThat(place(rows, 3, stops)).as("as many tokens as there must be").isEqualTo(Place.DEVICE);
        assertThat(rows.forbidden[3]).isEmpty();
        rows.begin(4);
        assertThat(rows.place).containsOnly(Place.NOWHERE);
        assertThat(place(rows, 0, biases)).as("after the next step began").isEqualTo(Place.DEVICE);
        var presence = new Plans();
        presence.presence = 1;
        assertThat(rows.historyStart(0)).as("no penalty").isEqualTo(PROMPT);
        assertThat(place(rows, 1, presence)).as("sees the answer alone").isEqualTo(Place.DEVICE);
        assertThat(place(rows, 2, presence)).as("3 numbers, room for 2").isEqualTo(Place.HOST);
    }

    /** A device keeps masks, of which rows know the place. */
    @Test
    void masksNeedNoRoom() {
        var rows = new SamplingRows(2, 0);
        rows.begin(2);
        for (int row = 0; row < 2; row++) {
            fill(rows, row, new Plans());
            rows.mask[row] = new long[5000];
            rows.settlePlace(row);
            assertThat(rows.place[row]).isEqualTo(Place.DEVICE);
        }
    }

    /** Position 7 behind a prompt of 4: a window of 5 begins in the prompt, one of 2 in the answer. */
    @ParameterizedTest
    @CsvSource({"2147483647, 0, 4", "7, 0, 4", "5, 2, 4", "3, 4, 4", "2, 5, 5", "1, 6, 6"})
    void penaltiesSeeTheirWindow(int window, int start, int answer) {
        var rows = new SamplingRows(1, 100);
        rows.begin(1);
        var plans = new Plans();
        plans.repetition = 1.1;
        plans.penaltyWindow = window;
        fill(rows, 0, plans);
        assertThat(rows.historyStart(0)).isEqualTo(start);
        assertThat(rows.answerStart(0)).isEqualTo(answer);
        plans.repetition = 1;
        plans.presence = 1;
        fill(rows, 0, plans);
        assertThat(rows.historyStart(0)).as("of the answer alone").isEqualTo(answer);
        plans.penalizesPrompt = true;
        fill(rows, 0, plans);
        assertThat(rows.historyStart(0)).as("of the prompt, too").isEqualTo(start);
        assertThat(rows.answerStart(0)).isEqualTo(start);
    }

    @Test
    void noDeviceSamplesTypically() {
        var rows = new SamplingRows(1, 100);
        rows.begin(1);
        var plans = new Plans();
        plans.typicalP = 0.9;
        assertThat(place(rows, 0, plans)).isEqualTo(Place.HOST);
    }

    @Test
    void nothingOfAStepIsKept() {
        var rows = new SamplingRows(2, 100);
        rows.begin(2);
        var plans = new Plans();
        plans.bias = Map.of(1, 3f);
        plans.minTokens = 9;
        plans.stopIds = Set.of(8);
        fill(rows, 1, plans);
        rows.mask[1] = new long[] {1, 1};
        assertThat(rows.history[1]).isSameAs(IDS);
        rows.clear();
        assertThat(rows.count).isZero();
        assertThat(rows.history[1]).isEmpty();
        assertThat(rows.biasIds[1]).isEmpty();
        assertThat(rows.biases[1]).isEmpty();
        assertThat(rows.forbidden[1]).isEmpty();
        assertThat(rows.mask[1]).isEmpty();
    }

    @Test
    void hasRoomForContextsOfAllRowsWithinAFewMegabytes() {
        assertThat(SamplingRows.room(new StepLimits(64, 8, 8, 1000, 16))).isGreaterThan(8 * 1000);
        assertThat(SamplingRows.room(new StepLimits(64, 1024, 1088, 131_072, 16)))
                .isEqualTo(1 << 20);
    }
}
