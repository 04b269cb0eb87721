package roselle.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.backend.DeviceOptions;

/** Who listens to a start hears the plan first, then more and more bytes until all are there. */
class StartObserverTest {
    @ParameterizedTest
    @ValueSource(strings = {"llama", "gpt2", "gpt_oss", "deepseek_v3"})
    void hearsThePlanAndThenHowLoadingGetsOn(String model) {
        var plans = new ArrayList<EnginePlan>();
        var loaded = new ArrayList<Long>();
        var totals = new ArrayList<Long>();
        var observer = new StartObserver() {
            @Override
            public void planned(EnginePlan plan) {
                assertThat(loaded).isEmpty();
                plans.add(plan);
            }

            @Override
            public void loaded(long bytes, long totalBytes) {
                loaded.add(bytes);
                totals.add(totalBytes);
            }
        };
        var config = TestConfig.of(Path.of("../roselle-engine/src/test/resources/tiny-models", model))
                .with(new DeviceOptions("cpu", 1));
        try (var engine = Engine.open(config, observer)) {
            assertThat(plans).isEqualTo(List.of(engine.plan()));
        }
        assertThat(loaded).hasSizeGreaterThan(3).isSorted();
        assertThat(loaded.getFirst()).isBetween(1L, totals.getFirst() - 1);
        assertThat(loaded.getLast()).isEqualTo(totals.getLast());
        assertThat(totals).containsOnly(totals.getFirst());
    }
}
