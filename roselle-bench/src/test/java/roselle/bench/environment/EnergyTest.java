package roselle.bench.environment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.backend.DeviceSensors;

final class EnergyTest {
    private static final long SECOND = 1_000_000_000L;

    @TempDir
    private Path folder;

    /** Card 0: 100 W to 200 W in 2 s is 300 J; card 1: 50 W for 1 s is 50 J. */
    @Test
    void sumsTheAreaUnderEachCardsPower() {
        var integral = new PowerIntegral();
        integral.add("0, 100.00", 0);
        integral.add("1, 50.00", 0);
        integral.add("1, 50.00", SECOND);
        integral.add("0, 200.00", 2 * SECOND);
        integral.add("2, [N/A]", SECOND);
        integral.add("broken", SECOND);

        assertThat(integral.joules()).isCloseTo(350, within(1e-9));
    }

    @Test
    void readsACounterThatBeginsAnew() throws IOException {
        Path counter = Files.createDirectory(folder.resolve("intel-rapl:0"));
        Files.createDirectory(folder.resolve("intel-rapl:0:0"));
        Files.writeString(counter.resolve("max_energy_range_uj"), "10000000\n");
        Files.writeString(counter.resolve("energy_uj"), "9000000\n");

        var span = ProcessorEnergy.find(folder).orElseThrow().begin();
        Files.writeString(counter.resolve("energy_uj"), "2500000\n");

        assertThat(span.end().joules()).isCloseTo(3.5, within(1e-9));
    }

    @Test
    void isAbsentWhereThereIsNoCounter() {
        assertThat(ProcessorEnergy.find(folder)).isEmpty();
        assertThat(ProcessorEnergy.find(folder.resolve("nowhere"))).isEmpty();
    }

    /** Two cards that use 100 J and 50 J between two readings. */
    private static final class CountingCards implements DeviceSensors {
        private long readings;

        @Override
        public Optional<String> unavailable() {
            return Optional.empty();
        }

        @Override
        public List<Reading> read() {
            readings++;
            return List.of(card(OptionalLong.of(100_000 * readings)), card(OptionalLong.of(7 + 50_000 * readings)));
        }

        private static Reading card(OptionalLong millijoules) {
            return new Reading("card", "1", millijoules, OptionalLong.empty(), 0, 1, OptionalInt.empty());
        }
    }

    @Test
    void takesTheCardsOwnCountersWhereEachCounts() {
        EnergyMeter meter = DeviceEnergy.find(List.of(new CountingCards())).orElseThrow();
        assertThat(meter.begin().end().joules()).isCloseTo(150, within(1e-9));

        var count = new EnergyCount(List.of(meter));
        count.add(count.begin());
        count.add(count.begin());
        assertThat(count.sums()).hasSize(1);
        assertThat(count.sums().getFirst().joules()).isCloseTo(300, within(1e-9));
    }

    @Test
    void leavesCardsToTheirToolWhereOneDoesNotCount() {
        DeviceSensors silent = new DeviceSensors() {
            @Override
            public Optional<String> unavailable() {
                return Optional.empty();
            }

            @Override
            public List<Reading> read() {
                return List.of(CountingCards.card(OptionalLong.of(5)), CountingCards.card(OptionalLong.empty()));
            }
        };
        assertThat(DeviceEnergy.find(List.of(silent))).isEmpty();
        assertThat(DeviceEnergy.find(List.of())).isEmpty();
    }

    @Test
    void dividesByTheTokensThatWereMade() {
        assertThat(new Energy("x", 30).fields(60)).containsEntry("joules_per_output_token", 0.5);
        assertThat(new Energy("x", 30).fields(0)).doesNotContainKey("joules_per_output_token");
    }
}
