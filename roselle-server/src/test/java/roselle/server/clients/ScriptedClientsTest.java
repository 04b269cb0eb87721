package roselle.server.clients;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Clients in other languages, each a script in src/test/clients; needs node, npm, python3 and the network on first use. */
@Tag("long")
final class ScriptedClientsTest {
    private static final Path SCRIPTS = Path.of("src/test/clients");
    private static final Path FOLDER = Path.of("target/clients").toAbsolutePath();

    private static ClientServer server;

    @BeforeAll
    static void install() throws Exception {
        run(300, "../tools/test-clients.sh", FOLDER.toString());
        server = new ClientServer();
    }

    @AfterAll
    static void stop() {
        if (server != null) {
            server.close();
        }
    }

    /** Runs a program; its failure is the test's. */
    private static String run(int seconds, String... command) throws IOException, InterruptedException {
        Path said = Files.createTempFile("client", ".log");
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(said.toFile())
                .start();
        boolean ended = process.waitFor(seconds, TimeUnit.SECONDS);
        process.destroyForcibly();
        String text = Files.readString(said, StandardCharsets.UTF_8);
        Files.delete(said);
        assertThat(ended).as("%s ended; it said: %s", List.of(command), text).isTrue();
        assertThat(process.exitValue()).as(text).isZero();
        return text;
    }

    /** A module finds what it imports beside itself. */
    @ParameterizedTest
    @CsvSource({"openai_client.mjs, responsesStreaming", "ai_client.mjs, cancellation"})
    void javaScriptClientsWork(String script, String last) throws Exception {
        Path copy = Files.copy(SCRIPTS.resolve(script), FOLDER.resolve(script), StandardCopyOption.REPLACE_EXISTING);

        assertThat(run(120, "node", copy.toString(), server.root())).contains("passed " + last);
    }

    @Test
    void thePythonClientWorks() throws Exception {
        String python = FOLDER.resolve("venv/bin/python").toString();

        assertThat(run(120, python, SCRIPTS.resolve("openai_client.py").toString(), server.root()))
                .contains("passed responses");
    }

    @ParameterizedTest
    @CsvSource({"--http1.1, 1.1", "--http2, 2", "--http2-prior-knowledge, 2"})
    void curlSpeaksEveryVersion(String option, String version) throws Exception {
        String said = run(
                60,
                "curl",
                "-sS",
                option,
                "-w",
                "\nversion %{http_version} %{http_code}",
                server.root() + "/v1/models");

        assertThat(said).contains("\"id\":\"demo\"").endsWith("version " + version + " 200");
    }
}
