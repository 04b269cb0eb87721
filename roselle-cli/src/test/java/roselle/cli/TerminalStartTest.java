package roselle.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A conversation in a real terminal, which {@code script} of util-linux provides. */
class TerminalStartTest {
    private static final Path SCRIPT = Path.of("/usr/bin/script");

    @TempDir
    private Path folder;

    @Test
    @Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void aConversationBeginsAndEndsWithoutAWarning() throws IOException, InterruptedException {
        assumeTrue(Files.isExecutable(SCRIPT), "script of util-linux is not there");
        Process terminal = terminal();
        try (var keys = terminal.getOutputStream();
                var screen = terminal.getInputStream()) {
            String start = readUntil("> ", screen);
            keys.write("/exit\r".getBytes(StandardCharsets.UTF_8));
            keys.flush();
            String rest = new String(screen.readAllBytes(), StandardCharsets.UTF_8);
            assertThat(terminal.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(terminal.exitValue()).as(start + rest).isZero();
            assertThat((start + rest).lines().filter(line -> line.contains("WARNING")))
                    .allMatch(line -> line.contains("Using incubator modules")); // which the launcher drops
        } finally {
            terminal.destroyForcibly();
        }
    }

    private Process terminal() throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String command = "stty rows 24 cols 80; exec '" + java
                + "' --add-modules jdk.incubator.vector --enable-native-access=ALL-UNNAMED -Xmx1g -cp '"
                + System.getProperty("java.class.path") + "' " + Main.class.getName() + " run demo";
        var builder = new ProcessBuilder(SCRIPT.toString(), "-qec", command, "/dev/null").redirectErrorStream(true);
        builder.environment().put("TERM", "xterm");
        builder.environment().put("XDG_STATE_HOME", folder.toString());
        return builder.start();
    }

    private static String readUntil(String wanted, InputStream screen) throws IOException {
        var said = new ByteArrayOutputStream();
        for (int next = screen.read(); next >= 0; next = screen.read()) {
            said.write(next);
            if (said.toString(StandardCharsets.UTF_8).contains(wanted)) {
                break;
            }
        }
        return said.toString(StandardCharsets.UTF_8);
    }
}
