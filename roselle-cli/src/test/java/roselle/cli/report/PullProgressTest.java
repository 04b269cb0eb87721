package roselle.cli.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class PullProgressTest {
    private final ByteArrayOutputStream said = new ByteArrayOutputStream();

    private String finished(long bytes) {
        try (var bar = PullProgress.bar("model", bytes, new PrintStream(said, true, StandardCharsets.UTF_8))) {
            bar.stepTo(bytes);
        }
        return said.toString(StandardCharsets.UTF_8);
    }

    @Test
    void aSmallModelIsCountedWhole() {
        assertThat(finished(7_947_744)).contains("7947/7947 kB").doesNotContain("/7 MB");
    }

    @Test
    void aSlowSpeedHasADigitBeforeThePoint() {
        assertThat(PullProgress.speed().format(0.84)).isEqualTo("0.8");
    }

    @Test
    void aLargeModelIsCountedInMegabytes() {
        assertThat(finished(4_900_000_000L)).contains("4900/4900 MB");
    }
}
