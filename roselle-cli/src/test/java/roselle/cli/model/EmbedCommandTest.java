package roselle.cli.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.cli.Main;

/** {@code roselle embed} on small encoders, and {@code roselle verify} of one. */
class EmbedCommandTest {
    private static final Path MODELS = Path.of("../roselle-engine/src/test/resources/tiny-encoders");

    private final StringWriter output = new StringWriter();
    private final StringWriter errors = new StringWriter();

    @TempDir
    private Path folder = Path.of("");

    @Test
    void writesAVectorForEachTextAndScoresForEachPair() throws IOException {
        Path texts = Files.writeString(folder.resolve("texts.jsonl"), "\"Hi.\"\n\"the story\"\n\"Hi.\"\n");
        assertThat(run("embed", "bert", "--jsonl", texts.toString(), "--dimensions", "4"))
                .as(errors.toString())
                .isZero();
        var vectors = output.toString().lines().toList();
        assertThat(vectors).hasSize(3).allMatch(line -> line.split(",").length == 4);
        assertThat(vectors.get(2)).isEqualTo(vectors.get(0)).isNotEqualTo(vectors.get(1));
        output.getBuffer().setLength(0);
        Path pairs = Files.writeString(folder.resolve("pairs.jsonl"), "[\"what is a panda?\",\"hi\"]\n");
        assertThat(run("embed", "bert-labels", "--jsonl", pairs.toString())).isZero();
        assertThat(output.toString().strip().split(",")).hasSize(3);
    }

    @Test
    void refusesLinesThatAreNoTexts() throws IOException {
        Path numbers = Files.writeString(folder.resolve("numbers.jsonl"), "\"Hi.\"\n7\n");
        assertThat(run("embed", "bert", "--jsonl", numbers.toString())).isEqualTo(65);
        assertThat(errors.toString()).contains("line 2 is no text");
    }

    @Test
    void comparesAnEncoderWithItsReference() {
        assertThat(run("verify", "roberta-cross")).as(output.toString()).isZero();
        assertThat(output.toString()).contains("verified: ");
        assertThat(run("verify", "roberta", "--tolerance", "1e-12")).isEqualTo(1);
        assertThat(output.toString()).contains("not verified: ");
    }

    private int run(String command, String model, String... options) {
        var arguments = new String[options.length + 2];
        arguments[0] = command;
        arguments[1] = MODELS.resolve(model).toString();
        System.arraycopy(options, 0, arguments, 2, options.length);
        return Main.commandLine(arguments)
                .setOut(new PrintWriter(output, true))
                .setErr(new PrintWriter(errors, true))
                .execute(arguments);
    }
}
