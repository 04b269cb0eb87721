package roselle.cli.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.cli.Main;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code roselle embed} and {@code roselle rerank} on small encoders, and {@code roselle verify} of one. */
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
    void writesSparseVectorsAsPairs() throws IOException {
        Path texts = Files.writeString(folder.resolve("texts.jsonl"), "\"a ship by the sea\"\n");
        assertThat(run("embed", "splade", "--jsonl", texts.toString(), "--sparse"))
                .as(errors.toString())
                .isZero();
        JsonNode pairs = JsonMapper.shared().readTree(output.toString());
        assertThat(pairs.valueStream())
                .isNotEmpty()
                .allMatch(pair ->
                        pair.size() == 2 && pair.get(0).isInt() && pair.get(1).floatValue() > 0);
    }

    @Test
    void refusesLinesThatAreNoTexts() throws IOException {
        Path numbers = Files.writeString(folder.resolve("numbers.jsonl"), "\"Hi.\"\n7\n");
        assertThat(run("embed", "bert", "--jsonl", numbers.toString())).isEqualTo(65);
        assertThat(errors.toString()).contains("line 2 is no text");
    }

    @Test
    void ranksTheTextsOfEachLine() throws IOException {
        Path asked = Files.writeString(folder.resolve("asked.jsonl"), """
                {"query":"what is a panda?","documents":["hi","a bear","the sea"]}
                {"query":"what is a panda?","documents":["a bear"]}
                """);
        assertThat(run("rerank", "bert-cross", "--jsonl", asked.toString()))
                .as(errors.toString())
                .isZero();
        JsonNode ranks = JsonMapper.shared()
                .readTree(output.toString().lines().findFirst().orElseThrow());
        assertThat(ranks.valueStream().map(rank -> rank.path("index").intValue()))
                .containsExactlyInAnyOrder(0, 1, 2);
        assertThat(ranks.valueStream().map(rank -> rank.path("score").doubleValue()))
                .isSortedAccordingTo(Comparator.reverseOrder())
                .allMatch(score -> score > 0 && score < 1);
        assertThat(output.toString().lines()).hasSize(2);
    }

    @Test
    void decodersThatRankAreToldWhatFor() throws IOException {
        Path asked = Files.writeString(
                folder.resolve("asked.jsonl"), "{\"query\":\"what is a panda?\",\"documents\":[\"hi\"]}\n");
        String[] options = {"--jsonl", asked.toString(), "--instruction", "Find a bear", "--compute", "f32"};
        assertThat(run("rerank", "qwen3-reranker", options))
                .as(errors.toString())
                .isZero();
        JsonNode rank = JsonMapper.shared().readTree(output.toString()).get(0);
        assertThat(rank.path("score").doubleValue())
                .isCloseTo(1 / (1 + Math.exp(-0.4328)), within(1e-4)); // of the fixture's logits_2
        assertThat(run("rerank", "bert-cross", options)).isEqualTo(65);
        assertThat(errors.toString()).contains("takes a query and a text alone");
    }

    @Test
    void refusesWhatRanksNothing() throws IOException {
        Path wrong = Files.writeString(folder.resolve("wrong.jsonl"), "{\"query\":\"a\",\"texts\":[\"b\"]}\n");
        assertThat(run("rerank", "bert-cross", "--jsonl", wrong.toString())).isEqualTo(65);
        assertThat(errors.toString()).contains("line 1 is no ranking");
        assertThat(run("rerank", "bert", "--jsonl", wrong.toString())).isEqualTo(65);
        assertThat(errors.toString()).contains("has 0 labels");
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
