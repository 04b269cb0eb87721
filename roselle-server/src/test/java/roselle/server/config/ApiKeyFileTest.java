package roselle.server.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.api.InvalidRequestException;

final class ApiKeyFileTest {
    private static final String HASH = ApiKey.sha256("a key");
    private static final String OTHER = ApiKey.sha256("another key");

    @TempDir
    private Path folder;

    @Test
    void readsKeysWithTheLimitsThatTheirLinesGive() throws IOException {
        var defaults = new KeyLimits(10, 1_000, 3);

        List<ApiKey> keys = ApiKeyFile.read(
                write("# keys\n\nalice sha256:" + HASH + "\r\n  bob\tsha256:" + OTHER + " tokens=7 concurrent=1\n"),
                defaults);

        assertThat(keys)
                .containsExactly(
                        new ApiKey("alice", HASH, defaults), new ApiKey("bob", OTHER, new KeyLimits(10, 7, 1)));
    }

    @Test
    void readsWhatItWrites() throws IOException {
        var key = new ApiKey("a.b-c_1", HASH, new KeyLimits(5, 6, 7));

        assertThat(ApiKeyFile.read(write(ApiKeyFile.line(key, KeyLimits.DEFAULT)), KeyLimits.DEFAULT))
                .containsExactly(key);
    }

    @Test
    void writesTheRightsOfAKeyAsItReadsThem() throws IOException {
        var key = new ApiKey("ann", HASH, KeyLimits.DEFAULT, new KeyRights("team", true));

        String line = ApiKeyFile.line(key, KeyLimits.DEFAULT);

        assertThat(line).endsWith(" group=team role=operator");
        assertThat(ApiKeyFile.read(write(line), KeyLimits.DEFAULT)).containsExactly(key);
    }

    @Test
    void makesKeysThatDiffer() {
        assertThat(ApiKey.random()).startsWith("rsl-").hasSize(47).isNotEqualTo(ApiKey.random());
    }

    /** In the lines, H stands for a hash and O for another. */
    @ParameterizedTest
    @CsvSource({
        "alice, has no hash",
        "alice rsl-secret, begins with sha256:",
        "alice sha256:12, is not a SHA-256",
        "alice sha256:H0, is not a SHA-256",
        "al/ice sha256:H, name",
        "alice sha256:H speed=1, limit that is not",
        "alice sha256:H speed, no number",
        "alice sha256:H group=, group without a name",
        "alice sha256:H group=a/b, key's group must have",
        "alice sha256:H role=king, role that is not operator",
        "alice sha256:H tokens=, no number",
        "alice sha256:H tokens=0, between 1",
        "alice sha256:H requests=-1, between 1",
        "alice sha256:H concurrent=99999999999999999999, no number",
        "'alice sha256:H\nalice sha256:O', line 2 repeats",
        "'alice sha256:H\nbob sha256:H', line 2 repeats",
        "# nothing, has no keys"
    })
    void refusesALineInOneSentenceThatDoesNotQuoteIt(String lines, String sentence) throws IOException {
        Path file = write(lines.replace("H", HASH).replace("O", OTHER));

        assertThatThrownBy(() -> ApiKeyFile.read(file, KeyLimits.DEFAULT))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(sentence)
                .hasMessageContaining(file.toString())
                .message()
                .doesNotContain("secret");
    }

    @Test
    void refusesAFileThatIsNotThere() {
        assertThatThrownBy(() -> ApiKeyFile.read(folder.resolve("missing"), KeyLimits.DEFAULT))
                .isInstanceOf(UncheckedIOException.class);
    }

    private Path write(String text) throws IOException {
        return Files.writeString(folder.resolve("keys"), text);
    }
}
