package roselle.bench.stage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import roselle.bench.environment.ProcessorUse;
import roselle.bench.metric.ChunkTimes;
import roselle.bench.metric.RequestSample;

final class DifferencesTest {
    private static final ProcessorUse IDLE = new ProcessorUse(OptionalDouble.empty(), 0, OptionalDouble.empty());

    @Test
    void tellsAVariantThatIsSlowerFromOneThatIsNoisy() {
        List<OnlineRun> runs = Stream.of(
                        runs("base", 100, 102, 104), runs("slower", 150, 152, 154), runs("noisy", 80, 105, 140))
                .flatMap(List::stream)
                .toList();

        List<Differences.Found> ttft = Differences.of(runs).stream()
                .filter(found -> found.difference().metric().equals("TTFT p50 ms"))
                .toList();

        assertThat(ttft).extracting(Differences.Found::variant).containsExactly("slower", "noisy");
        assertThat(ttft.getFirst().difference().share()).isCloseTo(50.0 / 102, within(1e-9));
        assertThat(ttft.getFirst().difference().exceedsNoise()).isTrue();
        assertThat(ttft.getLast().difference().exceedsNoise()).isFalse();
    }

    @Test
    void comparesNothingWithNothing() {
        assertThat(Differences.of(List.of())).isEmpty();
        assertThat(Differences.of(runs("alone", 1, 2, 3))).isEmpty();
    }

    private static List<OnlineRun> runs(String name, long... firstMillis) {
        return IntStream.range(0, firstMillis.length)
                .mapToObj(i -> new OnlineRun(
                        name, 1, i, Instant.EPOCH, List.of(sample(firstMillis[i] * 1_000_000)), List.of(), IDLE))
                .toList();
    }

    private static RequestSample sample(long first) {
        return new RequestSample(
                0, 1, 2, 0, 0, ChunkTimes.of(first, first + 10), first + 10, Optional.empty(), Optional.empty());
    }
}
