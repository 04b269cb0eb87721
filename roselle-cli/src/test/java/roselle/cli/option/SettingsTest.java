package roselle.cli.option;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import roselle.cli.Main;

/** Options of {@code roselle serve} from the command line, the environment and a file. */
final class SettingsTest {
    private record Outcome(int status, String out, String err) {}

    @TempDir
    private Path folder;

    @Test
    void takesTheCommandLineBeforeTheEnvironmentBeforeTheFile() throws IOException {
        Path file = write("port = 1\nmax-body = 2M\nmax-connections = 3\n");
        var environment = Map.of("ROSELLE_PORT", "4", "ROSELLE_MAX_BODY", "5M", "ROSELLE_CONFIG", file.toString());

        Outcome outcome = serve(environment, "demo", "--port", "6", "--print-config");

        assertThat(outcome.out().lines())
                .contains("port = 6", "max-body = " + (5 << 20), "max-connections = 3", "host = 127.0.0.1");
    }

    @Test
    void readsWhatItPrints() throws IOException {
        String printed = serve(
                        Map.of(), "demo", "--port", "7", "--model-name", "a b", "--kv-memory", "1G", "--print-config")
                .out();

        String again = serve(Map.of(), "demo", "--config", write(printed).toString(), "--print-config")
                .out();

        assertThat(again).isEqualTo(printed).contains("model-name = a b", "kv-memory = " + (1L << 30));
        assertThat(printed.lines())
                .as("what has no value is a comment")
                .contains("# tls-certificate =")
                .noneMatch(line -> line.endsWith("=") && !line.startsWith("#"));
    }

    @ParameterizedTest
    @CsvSource({
        "prot = 1, prot",
        "port = many, many",
        "port = 70000, 65535",
        "max-body = 1, max body",
        "\\uZZZZ = 1, cannot be read"
    })
    void refusesAFileInOneSentence(String line, String named) throws IOException {
        Outcome outcome = serve(Map.of(), "demo", "--config=" + write(line), "--print-config");

        assertThat(outcome.status()).isEqualTo(2);
        assertThat(outcome.err()).contains(named).doesNotContain("Exception");
    }

    @Test
    void refusesAFileThatIsNotThere() {
        Outcome outcome = serve(Map.of(), "demo", "--config", "missing.properties", "--print-config");

        assertThat(outcome.status()).isEqualTo(2);
        assertThat(outcome.err()).contains("missing.properties", "no such file");
    }

    @Test
    void saysThatAPortIsTaken() throws IOException {
        try (var taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Outcome outcome = serve(Map.of(), "demo", "--port", Integer.toString(taken.getLocalPort()));

            assertThat(outcome.status()).isEqualTo(69);
            assertThat(outcome.err()).contains(":" + taken.getLocalPort(), "choose another port");
        }
    }

    private Path write(String text) throws IOException {
        return Files.writeString(folder.resolve("serve.properties"), text);
    }

    private static Outcome serve(Map<String, String> environment, String... arguments) {
        String[] all = new String[arguments.length + 1];
        all[0] = "serve";
        System.arraycopy(arguments, 0, all, 1, arguments.length);
        var out = new StringWriter();
        var err = new StringWriter();
        CommandLine command = Main.commandLine(all);
        Settings.install(
                java.util.Objects.requireNonNull(command.getSubcommands().get("serve")), environment, all);
        command.setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
        int status = command.execute(all);
        return new Outcome(status, out.toString(), err.toString());
    }
}
