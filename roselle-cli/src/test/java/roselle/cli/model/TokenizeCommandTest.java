package roselle.cli.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.cli.Main;

/** {@code roselle tokenize} on a real vocabulary. */
@Tag("shared-data")
class TokenizeCommandTest {
    private final StringWriter output = new StringWriter();
    private final StringWriter errors = new StringWriter();

    @TempDir
    private Path folder = Path.of("");

    @Test
    void printsIdsAsOneJsonArray() {
        assertThat(run("--text", "Hello world")).isZero();
        assertThat(output).hasToString("[15496,995]" + System.lineSeparator());
    }

    @Test
    void specialSpellingsAreTextUnlessAskedFor() {
        assertThat(run("--text", "<|endoftext|>")).isZero();
        assertThat(output.toString()).doesNotContain("50256");
        assertThat(run("--text", "<|endoftext|>", "--parse-special")).isZero();
        assertThat(output.toString()).contains("[50256]");
    }

    @Test
    void printsOneLinePerInputAndTheWayBack() throws IOException {
        Path texts = Files.writeString(folder.resolve("texts.jsonl"), "\"Hello\\n\"\n\"\"\n\"é\\\"\"\n");
        assertThat(run("--jsonl", texts.toString())).isZero();
        Path ids = Files.writeString(folder.resolve("ids.jsonl"), output.toString());
        output.getBuffer().setLength(0);
        assertThat(run("--jsonl", ids.toString(), "--decode")).isZero();
        assertThat(output.toString().lines()).containsExactly("\"Hello\\n\"", "\"\"", "\"é\\\"\"");
    }

    @Test
    void refusesWhatItCanNotReadInOneSentence() throws IOException {
        Path number = Files.writeString(folder.resolve("number.jsonl"), "1\n");
        assertThat(run("--jsonl", number.toString())).isEqualTo(65);
        assertThat(errors.toString()).contains("line 1 is not a JSON string");
        assertThat(run("--text", "[99999999]", "--decode")).isEqualTo(65);
        assertThat(run("--text", "[1.5]", "--decode")).isEqualTo(65);
        assertThat(run("--text", "hello", "--decode")).isEqualTo(65);
        Path broken = Files.write(folder.resolve("latin1.txt"), new byte[] {'a', (byte) 0xE9});
        assertThat(run("--file", broken.toString())).isEqualTo(65);
        assertThat(run("--file", folder.resolve("absent").toString())).isEqualTo(66);
        assertThat(run()).isEqualTo(2);
    }

    private int run(String... arguments) {
        Path model = Path.of("../../shared/data/vocab/ggml-vocab-gpt-2.gguf");
        String shared = System.getenv("ROSELLE_SHARED_DATA");
        if (shared != null) {
            model = Path.of(shared, "vocab", "ggml-vocab-gpt-2.gguf");
        }
        Assumptions.assumeTrue(Files.exists(model), "the shared vocabularies are not there");
        String[] all = new String[arguments.length + 3];
        all[0] = "tokenize";
        all[1] = "--model";
        all[2] = model.toString();
        System.arraycopy(arguments, 0, all, 3, arguments.length);
        return Main.commandLine(all)
                .setOut(new PrintWriter(output))
                .setErr(new PrintWriter(errors))
                .execute(all);
    }
}
