package roselle.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.cli.Main;

/** {@code roselle serve} of an encoder refuses what says how to generate. */
class EncoderServingTest {
    private static final Path BERT = Path.of("../roselle-engine/src/test/resources/tiny-encoders/bert");

    @ParameterizedTest
    @ValueSource(
            strings = {"--kv-type=int8", "--kv-memory=1G", "--max-sequences=2", "--max-queue=7", "--no-prefix-cache"})
    void refusesOptionsOfGeneration(String option) {
        var errors = new StringWriter();

        int status = Main.commandLine("serve", BERT.toString(), "--port=0", option)
                .setErr(new PrintWriter(errors, true))
                .execute("serve", BERT.toString(), "--port=0", option);

        assertThat(status).as(errors.toString()).isEqualTo(2);
        assertThat(errors.toString())
                .contains(option.replaceFirst("=.*", "") + " says how to generate, but ")
                .contains("is an encoder: leave it out");
    }
}
