package roselle.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.cli.Main;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;

/** {@code roselle serve} of an encoder refuses what says how to generate. */
class EncoderServingTest {
    private static final Path BERT = Path.of("../roselle-engine/src/test/resources/tiny-encoders/bert");

    @Test
    void tokensOfAStepThatAreSaidAreTaken() {
        assertThat(stepTokens()).as("chosen by the device").isZero();
        assertThat(stepTokens("--step-tokens=512")).isEqualTo(512); // which is what decoders have unasked
        assertThat(stepTokens("--step-tokens=1024")).isEqualTo(1024);
    }

    private static int stepTokens(String... options) {
        var arguments = new ArrayList<>(List.of("serve", BERT.toString()));
        arguments.addAll(List.of(options));
        String[] all = arguments.toArray(String[]::new);
        var parsed = Main.commandLine(all).parseArgs(all).subcommand().commandSpec();
        var flag = (int) parsed.findOption("--step-tokens").getValue();
        var batch = new BatchOptions(0, 64, flag, 0, 1024);
        return EncoderServing.config(EngineConfig.of(BERT).with(batch), parsed).stepTokens();
    }

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
