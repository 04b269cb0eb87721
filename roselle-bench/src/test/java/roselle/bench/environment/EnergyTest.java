package roselle.bench.environment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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

    @Test
    void dividesByTheTokensThatWereMade() {
        assertThat(new Energy("x", 30).fields(60)).containsEntry("joules_per_output_token", 0.5);
        assertThat(new Energy("x", 30).fields(0)).doesNotContainKey("joules_per_output_token");
    }
}
