package roselle.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import roselle.cli.Main;
import roselle.server.config.ApiKey;
import roselle.server.config.ApiKeyFile;
import roselle.server.config.KeyLimits;

/** {@code roselle key}, and the servers that ask for what it makes. */
final class KeyCommandTest {
    private record Outcome(int status, String out, String err) {}

    @TempDir
    private Path folder;

    @Test
    void printsTheKeyAndKeepsItsHashAlone() throws IOException {
        Path file = folder.resolve("keys");

        Outcome outcome = run("key", file.toString(), "alice", "--key-tokens=9");

        String secret = outcome.out().strip();
        assertThat(outcome.status()).isZero();
        assertThat(Files.readString(file)).doesNotContain(secret).endsWith("\n");
        assertThat(ApiKeyFile.read(file, KeyLimits.DEFAULT))
                .containsExactly(new ApiKey(
                        "alice",
                        ApiKey.sha256(secret),
                        new KeyLimits(KeyLimits.DEFAULT.requestsPerMinute(), 9, KeyLimits.DEFAULT.concurrent())));
        assertThat(Files.getPosixFilePermissions(file)).hasSize(2);
    }

    @Test
    void addsToWhatIsThere() throws IOException {
        Path file = Files.writeString(folder.resolve("keys"), "# ours\nbob sha256:" + ApiKey.sha256("b"));

        assertThat(run("key", file.toString(), "alice").status()).isZero();

        assertThat(ApiKeyFile.names(file)).containsExactlyInAnyOrder("bob", "alice");
    }

    @Test
    void refusesANameThatIsTakenOrIsNone() {
        String file = folder.resolve("keys").toString();
        run("key", file, "alice");

        assertThat(run("key", file, "alice").err()).contains("has a key of the name alice");
        assertThat(run("key", file, "al ice").err()).contains("a key's name must have");
        assertThat(run("key", file, "al ice").status()).isEqualTo(2);
        assertThat(run("key", folder.resolve("no/keys").toString(), "alice").status())
                .isEqualTo(66);
    }

    @Test
    void listensForOthersOnlyWithKeysOrWhenToldTo() {
        String file = folder.resolve("keys").toString();
        run("key", file, "alice");

        Outcome refused = run("serve", "demo", "--host=0.0.0.0", "--print-config");

        assertThat(refused.status()).isEqualTo(2);
        assertThat(refused.err()).contains("0.0.0.0", "--api-keys", "--allow-anyone");
        assertThat(run("serve", "demo", "--host=0.0.0.0", "--allow-anyone", "--print-config")
                        .status())
                .isZero();
        Outcome keyed = run("serve", "demo", "--host=0.0.0.0", "--api-keys", file, "--print-config");
        assertThat(keyed.status()).isZero();
        assertThat(keyed.out()).contains("api-keys = " + file, "key-requests = 6000", "allow-anyone = false");
    }

    @Test
    void servesNobodyWithAFileOfKeysThatIsMissingOrEmpty() throws IOException {
        Path empty = Files.writeString(folder.resolve("empty"), "# nobody\n");

        assertThat(run("serve", "demo", "--api-keys", empty.toString(), "--print-config")
                        .err())
                .contains("has no keys");
        assertThat(run("serve", "demo", "--api-keys", folder.resolve("missing").toString(), "--print-config")
                        .status())
                .isEqualTo(66);
    }

    @Test
    void answersTheApisThatAreNamedAndRefusesUnknownOnes() {
        assertThat(run("serve", "demo", "--print-config").out())
                .contains("dialects = openai,anthropic,ollama,llamacpp,tgi,kserve,cohere,tei\n");
        assertThat(run("serve", "demo", "--dialects=openai,ollama", "--print-config")
                        .out())
                .contains("dialects = openai,ollama\n");
        Outcome refused = run("serve", "demo", "--dialects=openai,grpc", "--print-config");
        assertThat(refused.status()).isEqualTo(2);
        assertThat(refused.err()).contains("dialects has grpc: there are openai, anthropic");
    }

    private static Outcome run(String... arguments) {
        var out = new StringWriter();
        var err = new StringWriter();
        CommandLine command = Main.commandLine(arguments);
        command.setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
        int status = command.execute(arguments);
        return new Outcome(status, out.toString(), err.toString());
    }
}
