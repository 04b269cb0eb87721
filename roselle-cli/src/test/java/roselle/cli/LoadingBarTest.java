package roselle.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class LoadingBarTest {
    private final ByteArrayOutputStream said = new ByteArrayOutputStream();
    private final PrintStream report = new PrintStream(said, true, StandardCharsets.UTF_8);

    @Test
    void whatLoadsWithinASecondShowsNothing() {
        LoadingBar.begin("small.gguf", report, Duration.ofHours(1)).close();
        assertThat(said.toString(StandardCharsets.UTF_8)).isEmpty();
    }

    @Test
    void whatTakesLongerIsNamedUntilItIsThere() {
        long giveUp = System.nanoTime() + Duration.ofSeconds(30).toNanos();
        try (var bar = LoadingBar.begin("large.gguf", report, Duration.ZERO)) {
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
}
