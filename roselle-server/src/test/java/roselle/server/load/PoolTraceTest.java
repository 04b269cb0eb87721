package roselle.server.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

final class PoolTraceTest {
    private static final long MEBIBYTE = 1 << 20;

    @Test
    void countsWhatIsFoundOfModelsOfOneSize() {
        var trace = new PoolTrace(List.of(0, 1, 0, 2, 2, 0, 1), List.of(MEBIBYTE, MEBIBYTE, MEBIBYTE), 2 * MEBIBYTE);

        assertThat(trace.bestStatic(_ -> 1))
                .as("0 stays, and 2 is asked for twice in turn")
                .isEqualTo(3);
        assertThat(trace.bestStatic(model -> model == 1 ? 9 : 1)).as("1 stays").isEqualTo(11);
    }

    @Test
    void weighsSizes() {
        var trace = new PoolTrace(
                List.of(0, 1, 2, 0, 1, 2, 0, 1, 2, 3),
                List.of(4 * MEBIBYTE, MEBIBYTE, MEBIBYTE, MEBIBYTE),
                5 * MEBIBYTE);

        assertThat(trace.bestStatic(_ -> 1))
                .as("one of the small ones beside room for the large one")
                .isEqualTo(2);
        assertThat(trace.bestStatic(model -> model == 0 ? 5 : 1))
                .as("the large one beside room for one of the others")
                .isEqualTo(10);
    }
}
