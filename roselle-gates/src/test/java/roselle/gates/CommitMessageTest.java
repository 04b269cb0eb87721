package roselle.gates;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The hook that holds messages of commits to their form lets good ones pass and says what is wrong with others. */
@DisabledOnOs(OS.WINDOWS)
final class CommitMessageTest {
    @TempDir
    private Path folder = Path.of("");

    private record Outcome(int status, String said) {}

    private Outcome check(String message) throws IOException, InterruptedException {
        Path file = Files.writeString(folder.resolve("message"), message);
        Path hook = SourceTree.ofThisProject().root().resolve("tools/git-hooks/commit-msg");
        Process process = new ProcessBuilder(hook.toString(), file.toString())
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), UTF_8);
        return new Outcome(process.waitFor(), said);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "scheduler: plan steps ahead row by row\n\nOne row with a penalty stopped all.\n",
                "cpu.machine: emit tiles\n\nBecause.\n# a comment of git\n",
                "Merge branch 'main'\n"
            })
    void letsGoodMessagesPass(String message) throws IOException, InterruptedException {
        assertThat(check(message)).isEqualTo(new Outcome(0, ""));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"Say why\n\nBody.\n", "cpu: ends in a stop.\n\nBody.\n", "CPU: shout\n\nBody.\n", "\n\nBody.\n"})
    void wantsAnAreaAndASubject(String message) throws IOException, InterruptedException {
        Outcome outcome = check(message);
        assertThat(outcome.status()).isEqualTo(1);
        assertThat(outcome.said()).contains("must read \"area: subject\"");
    }

    @Test
    void wantsAShortSubject() throws IOException, InterruptedException {
        assertThat(check("cpu: " + "x".repeat(67) + "\n\nBody.\n").status()).isZero();
        assertThat(check("cpu: " + "x".repeat(68) + "\n\nBody.\n").said()).contains("more than 72 characters");
    }

    @ParameterizedTest
    @ValueSource(strings = {"cpu: say nothing more\n", "cpu: say nothing more\n\n  \n# only git's\n"})
    void wantsABody(String message) throws IOException, InterruptedException {
        assertThat(check(message).said()).contains("a body must say why");
    }

    @Test
    void wantsAnEmptySecondLine() throws IOException, InterruptedException {
        assertThat(check("cpu: run on\nat once\n\nBody.\n").said()).contains("the second line must be empty");
    }
}
