package roselle.server.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import roselle.server.pool.Eviction.Candidate;

/** Which models go for another. */
final class EvictionTest {
    private static final long SECOND = 1_000_000_000L;

    private static Candidate model(String name, long bytes, double uses, long seconds) {
        return new Candidate(name, bytes, uses, seconds * SECOND);
    }

    @Test
    void takesWhatIsUsedLeast() {
        var chosen = Eviction.choose(List.of(model("often", 10, 9, 1), model("seldom", 10, 1, 1)), 5);

        assertThat(chosen).contains(List.of("seldom"));
    }

    @Test
    void takesWhatLoadsFastest() {
        var chosen = Eviction.choose(List.of(model("slow", 10, 1, 30), model("fast", 10, 1, 1)), 5);

        assertThat(chosen).contains(List.of("fast"));
    }

    @Test
    void takesWhatIsLargestForItsWorth() {
        var chosen = Eviction.choose(List.of(model("small", 5, 1, 1), model("large", 50, 1, 1)), 5);

        assertThat(chosen).contains(List.of("large"));
    }

    @Test
    void takesSeveralWhereOneIsNotEnough() {
        var chosen = Eviction.choose(List.of(model("a", 4, 1, 1), model("b", 4, 2, 1), model("c", 4, 3, 1)), 7);

        assertThat(chosen).contains(List.of("a", "b"));
    }

    @Test
    void sparesWhatALaterOneMakesUnnecessary() {
        var chosen = Eviction.choose(List.of(model("little", 2, 1, 1), model("much", 20, 100, 1)), 20);

        assertThat(chosen).contains(List.of("much"));
    }

    @Test
    void takesNothingWhereAllTogetherAreNotEnough() {
        assertThat(Eviction.choose(List.of(model("a", 4, 1, 1), model("b", 4, 1, 1)), 9))
                .isEmpty();
        assertThat(Eviction.choose(List.of(), 1)).isEmpty();
    }

    @Test
    void takesTheFirstNameOfEquals() {
        assertThat(Eviction.choose(List.of(model("b", 4, 1, 1), model("a", 4, 1, 1)), 1))
                .contains(List.of("a"));
    }

    @Test
    void countsUsesLessTheOlderTheyAre() {
        assertThat(Eviction.faded(8, 0)).isEqualTo(8);
        assertThat(Eviction.faded(8, Eviction.HALF_LIFE_NANOS))
                .isEqualTo(4, org.assertj.core.api.Assertions.within(1e-9));
        assertThat(Eviction.faded(8, 1000 * Eviction.HALF_LIFE_NANOS)).isLessThan(1e-9);
    }
}
