package roselle.cpu.path;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.cpu.machine.Compute;
import roselle.cpu.option.CpuPath;
import roselle.tensor.DataType;

/** Rates that are measured once and kept, and all that may happen to their file. */
class KeptRatesTest {
    private static final String KEY = "rates of some processor";
    private static final List<Contender> CONTENDERS =
            List.of(new Contender(CpuPath.AVX512, Compute.F32), new Contender(CpuPath.AVX2, Compute.F32));
    private static final List<PathRates> RATES = rates(4e10);
    private static final List<PathRates> OTHER = rates(7e10);

    @TempDir
    private Path folder;

    private final AtomicInteger measurements = new AtomicInteger();

    private static List<PathRates> rates(double prompt) {
        return List.of(new PathRates("avx512/f32", prompt, 1.5e10), new PathRates("avx2/f32", 3e10, 1e10));
    }

    /** As a process that begins now. */
    private List<PathRates> start(String key, List<PathRates> measured) {
        return AutomaticPath.rates(new KeptRates(folder), key, CONTENDERS, () -> {
            measurements.incrementAndGet();
            return measured;
        });
    }

    private Path file() throws IOException {
        try (var files = Files.list(folder)) {
            return files.toList().getFirst();
        }
    }

    @Test
    void measuresOnce() throws IOException {
        assertThat(start(KEY, RATES)).isEqualTo(RATES);
        assertThat(start(KEY, OTHER)).isEqualTo(RATES);
        assertThat(measurements).hasValue(1);
        try (var files = Files.list(folder)) {
            assertThat(files).hasSize(1);
        }
    }

    @Test
    void measuresEachThingByItself() {
        start(KEY, RATES);
        assertThat(start("rates of another processor", OTHER)).isEqualTo(OTHER);
    }

    @Test
    void measuresAgainWhereTheFileIsTornAtAnyByte() throws IOException {
        start(KEY, RATES);
        byte[] whole = Files.readAllBytes(file());
        for (int length = 0; length < whole.length; length++) {
            Files.write(file(), java.util.Arrays.copyOf(whole, length));
            measurements.set(0);
            assertThat(start(KEY, OTHER)).as("%d bytes", length).isEqualTo(OTHER);
            assertThat(measurements).hasValue(1);
        }
        assertThat(start(KEY, RATES)).as("and keeps that").isEqualTo(OTHER);
    }

    @Test
    void measuresAgainWhereAByteOfTheFileIsAnother() throws IOException {
        start(KEY, RATES);
        Path file = file();
        byte[] whole = Files.readAllBytes(file);
        for (int at = 0; at < whole.length; at++) {
            byte[] altered = whole.clone();
            altered[at] ^= 4;
            Files.write(file, altered);
            assertThat(start(KEY, OTHER)).as("byte %d", at).isEqualTo(OTHER);
        }
    }

    @Test
    void measuresAgainWhereOtherPathsAreAtHand() {
        new KeptRates(folder).keep(KEY, RATES.subList(0, 1));
        assertThat(start(KEY, OTHER)).isEqualTo(OTHER);
    }

    @Test
    void goesByTheProcessThatWasFirst() {
        List<PathRates> held = AutomaticPath.rates(new KeptRates(folder), KEY, CONTENDERS, () -> {
            start(KEY, RATES); // another process, while this one measures
            return OTHER;
        });
        assertThat(held).isEqualTo(RATES);
    }

    @Test
    void remembersWhatItCannotWrite() throws IOException {
        Path file = Files.createFile(folder.resolve("a file"));
        var kept = new KeptRates(file.resolve("no folder"));
        assertThat(AutomaticPath.rates(kept, KEY, CONTENDERS, () -> RATES)).isEqualTo(RATES);
        assertThat(AutomaticPath.rates(kept, KEY, CONTENDERS, () -> OTHER)).isEqualTo(RATES);
    }

    @Test
    void keepsNothingWhereNothingWasMeasured() throws IOException {
        assertThat(start(KEY, List.of())).isEmpty();
        try (var files = Files.list(folder)) {
            assertThat(files).isEmpty();
        }
    }

    @Test
    void namesAProcessorByWhatDoesNotChange() throws IOException {
        Path information = Files.writeString(folder.resolve("cpuinfo"), """
                processor\t: 0
                vendor_id\t: GenuineIntel
                model\t\t: 207
                model name\t: Some Xeon
                cpu MHz\t\t: 2300.000

                processor\t: 1
                vendor_id\t: another
                """);
        assertThat(ProcessorName.fields(information)).containsExactly("GenuineIntel", "207", "Some Xeon");
        assertThat(ProcessorName.fields(folder.resolve("none"))).containsExactly("unknown");
        assertThat(new ProcessorName("it").key(2, DataType.Q4_0))
                .isEqualTo("rates of version development of q4_0 on 2 threads: it");
    }
}
