package roselle.cli;

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
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What {@code roselle doctor} says of places that a test has made, and of this machine. */
final class DoctorCommandTest {
    @TempDir
    private Path folder;

    private String said(Map<String, String> environment, String... arguments) {
        var out = new StringWriter();
        int status = new CommandLine(new DoctorCommand(environment))
                .setOut(new PrintWriter(out))
                .execute(arguments);
        assertThat(status).as(out.toString()).isZero();
        return out.toString();
    }

    private Map<String, String> caches() {
        return Map.of("ROSELLE_CACHE", folder.resolve("new").toString(), "HF_HOME", folder.toString());
    }

    private static JsonNode finding(String said, String name) {
        for (JsonNode each : JsonMapper.shared().readTree(said).at("/findings")) {
            if (each.at("/name").stringValue().equals(name)) {
                return each;
            }
        }
        throw new AssertionError("nothing is said of " + name + " in " + said);
    }

    @Test
    void tellsTheMachineLineByLine() {
        assertThat(said(caches(), "--port", "0"))
                .contains("java      " + Runtime.version(), " cores; ", "cuda", "memory", folder.toString(), "0 models")
                .endsWith("Roselle can run here." + System.lineSeparator());
        assertThat(folder.resolve("new")).as("nothing is made by looking").doesNotExist();
    }

    @Test
    void namesAPortThatIsTaken() throws IOException {
        try (var taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String said = said(caches(), "--json", "--port", Integer.toString(taken.getLocalPort()));
            assertThat(finding(said, "port").at("/level").stringValue()).isEqualTo("note");
            assertThat(finding(said, "port").at("/fact").stringValue()).contains(taken.getLocalPort() + " is taken");
            assertThat(finding(said, "port").at("/advice").stringValue()).contains("--port N");
            assertThat(JsonMapper.shared().readTree(said).at("/sound").asBoolean())
                    .isTrue();
        }
    }

    @Test
    void namesACacheThatCannotBeWritten() throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "no folder");
        String said =
                said(Map.of("ROSELLE_CACHE", file.resolve("below").toString(), "HF_HOME", folder.toString()), "--json");
        assertThat(finding(said, "cache").at("/fact").stringValue()).contains("cannot be written");
        assertThat(finding(said, "cache").at("/advice").stringValue()).contains("ROSELLE_CACHE");
        assertThat(finding(said, "hub").at("/level").stringValue()).isIn("fine", "note");
    }
}
