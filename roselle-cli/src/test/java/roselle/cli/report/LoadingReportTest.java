package roselle.cli.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class LoadingReportTest {
    private final ByteArrayOutputStream said = new ByteArrayOutputStream();
    private final PrintStream report = new PrintStream(said, true, StandardCharsets.UTF_8);

    @Test
    void whatLoadsWithinASecondShowsNothing() {
        LoadingReport.bar("small.gguf", report, Duration.ofHours(1)).close();
        assertThat(said.toString(StandardCharsets.UTF_8)).isEmpty();
    }

    @Test
    void whatTakesLongerIsNamedUntilItIsThere() {
        long giveUp = System.nanoTime() + Duration.ofMinutes(2).toNanos();
        try (var bar = LoadingReport.bar("large.gguf", report, Duration.ZERO)) {
            while (!said.toString(StandardCharsets.UTF_8).contains("loading large.gguf")) {
                assertThat(System.nanoTime()).as("%s", bar).isLessThan(giveUp);
                Thread.onSpinWait();
            }
        }
        String all = said.toString(StandardCharsets.UTF_8);
        assertThat(all.substring(all.lastIndexOf(')') + 1))
                .as("what clears the line")
                .isBlank();
    }

    @Test
    void aBarKnowsHowMuchThereIs() {
        long giveUp = System.nanoTime() + Duration.ofMinutes(2).toNanos();
        try (var bar = LoadingReport.bar("large.gguf", report, Duration.ZERO)) {
            bar.loaded(300_000_000, 400_000_000);
            await("75%", giveUp);
        }
    }

    @Test
    void whatIsNoTerminalGetsLinesWithBytes() {
        long giveUp = System.nanoTime() + Duration.ofMinutes(2).toNanos();
        try (var lines = LoadingReport.lines("large.gguf", report, Duration.ofMillis(1))) {
            await("loading large.gguf\n", giveUp);
            lines.loaded(300_000_000, 4_000_000_000L);
            await("loading large.gguf: 300.0 MB of 4.0 GB\n", giveUp);
        }
    }

    @Test
    void whatLoadsSoonerThanALineIsDueSaysNothing() {
        LoadingReport.lines("small.gguf", report, Duration.ofHours(1)).close();
        assertThat(said.toString(StandardCharsets.UTF_8)).isEmpty();
    }

    private void await(String text, long giveUp) {
        while (!said.toString(StandardCharsets.UTF_8).contains(text)) {
            assertThat(System.nanoTime()).as("%s", said).isLessThan(giveUp);
            Thread.onSpinWait();
        }
    }
}
