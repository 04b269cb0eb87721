package roselle.server.clients;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Programs of others that tests run, in a folder where they are installed once; needs node, npm, python3, Maven and the network then. */
final class ClientPrograms {
    static final Path FOLDER = Path.of("target/clients").toAbsolutePath();

    private ClientPrograms() {}

    /** Installs those that are not there yet. */
    static void install() throws IOException, InterruptedException {
        run(900, "../tools/test-clients.sh", FOLDER.toString());
    }

    static String python() {
        return FOLDER.resolve("venv/bin/python").toString();
    }

    /** Runs a program; its failure is the test's. */
    static String run(int seconds, String... command) throws IOException, InterruptedException {
        Path said = Files.createTempFile("client", ".log");
        var builder = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(said.toFile());
        builder.environment().put("NO_PROXY", "127.0.0.1"); // the server is here, whatever fetches packages
        builder.environment().put("no_proxy", "127.0.0.1");
        Process process = builder.start();
        boolean ended = process.waitFor(seconds, TimeUnit.SECONDS);
        process.destroyForcibly();
        String text = Files.readString(said, StandardCharsets.UTF_8);
        Files.delete(said);
        assertThat(ended).as("%s ended; it said: %s", List.of(command), text).isTrue();
        assertThat(process.exitValue()).as(text).isZero();
        return text;
    }
}
