package roselle.embedding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.api.CheckpointException;
import roselle.api.InvalidRequestException;
import roselle.backend.DeviceOptions;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;

/** Qwen3-Reranker in the forms in which it is published, by one fixture's logits. */
class DecodersThatRankTest {
    private static final Path PUBLISHED = TinyEncodersTest.MODELS.resolve("qwen3-reranker");
    private static final String QUERY = "what is a panda?";
    private static final String DOCUMENT = "The giant panda is a bear that lives in China.";

    @TempDir
    private Path folder = Path.of("");

    @Test
    void theFirstReleaseIsKnownByItsName() throws IOException {
        Path first = copy("Qwen3-Reranker-0.6B");
        assertThat(Encoders.isOne(first)).isTrue();
        assertThat(logit(first, EmbeddingOptions.DEFAULT)).isCloseTo(expected(0), within(1e-4f));
    }

    @Test
    void orByTheHeadingOfItsCard() throws IOException {
        Path renamed = copy("ranker");
        assertThat(Encoders.isOne(renamed)).as("a decoder that generates").isFalse();
        Files.writeString(renamed.resolve("README.md"), "---\nlicense: apache-2.0\n---\n# Qwen3-Reranker-0.6B\n");
        assertThat(Encoders.isOne(renamed)).isTrue();
        assertThat(logit(renamed, EmbeddingOptions.DEFAULT)).isCloseTo(expected(0), within(1e-4f));
    }

    @Test
    void anInstructionTakesThePlaceOfTheUsualOne() {
        EmbeddingOptions options = EmbeddingOptions.DEFAULT.withInstruction("Find a bear");
        try (var engine = open(PUBLISHED, 0)) {
            float usual = engine.score(QUERY, List.of("hi"), EmbeddingOptions.DEFAULT)
                    .vectors()
                    .getFirst()[0];
            assertThat(engine.labels()).containsExactly("yes");
            float asked = engine.score(QUERY, List.of("hi"), options).vectors().getFirst()[0];
            assertThat(asked).isNotEqualTo(usual);
        }
        try (var plain = open(TinyEncodersTest.MODELS.resolve("bert-cross"), 0)) {
            assertThatThrownBy(() -> plain.score(QUERY, List.of("hi"), options))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("an instruction is given, but the model takes a query and a text alone");
        }
    }

    @Test
    void aLongDocumentLosesItsEndAndThePromptStaysWhole() {
        String tail = " It is a bear.".repeat(40);
        try (var engine = open(PUBLISHED, 100)) {
            EncoderInput whole = engine.readPair(QUERY, DOCUMENT, EmbeddingOptions.DEFAULT);
            EncoderInput cut = engine.readPair(QUERY, DOCUMENT + tail, EmbeddingOptions.DEFAULT.withTruncate(true));
            assertThat(cut.length()).isEqualTo(100).isGreaterThan(whole.length());
            for (int back = 1; back <= 9; back++) { // the prompt's end, which the score is read from
                assertThat(cut.id(100 - back)).isEqualTo(whole.id(whole.length() - back));
            }
            assertThatThrownBy(() -> engine.readPair(QUERY, DOCUMENT + tail, EmbeddingOptions.DEFAULT))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("but the model takes 100");
            assertThatThrownBy(() -> engine.readPair(tail, "hi", EmbeddingOptions.DEFAULT.withTruncate(true)))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("but the model takes 100");
        }
    }

    @Test
    void aTokenThatIsNotThereIsRefused() throws IOException {
        Path wrong = copy("wrong");
        Files.copy(PUBLISHED.resolve("modules.json"), wrong.resolve("modules.json"));
        Path module = Files.createDirectory(wrong.resolve("1_LogitScore"));
        Files.writeString(module.resolve("config.json"), "{\"true_token_id\": 99999, \"false_token_id\": null}");
        assertThatThrownBy(() -> open(wrong, 0).close())
                .isInstanceOf(CheckpointException.class)
                .hasMessageContaining("logit of token 99999, of which it has none");
    }

    @Test
    void aTemplateWithoutThePairIsRefused() {
        assertThatThrownBy(() -> new PairTemplate("<" + PairTemplate.QUERY + ">", null))
                .isInstanceOf(CheckpointException.class)
                .hasMessageContaining("each of them once, the query first");
    }

    /** The model without what sentence-transformers writes beside it. */
    private Path copy(String name) throws IOException {
        Path copy = Files.createDirectory(folder.resolve(name));
        for (String file : List.of("config.json", "model.safetensors", "tokenizer.json")) {
            Files.copy(PUBLISHED.resolve(file), copy.resolve(file));
        }
        return copy;
    }

    private static float logit(Path model, EmbeddingOptions options) {
        try (var engine = open(model, 0)) {
            return engine.score(QUERY, List.of(DOCUMENT), options).vectors().getFirst()[0];
        }
    }

    private static float expected(int input) {
        try (Checkpoint reference = Checkpoints.open(PUBLISHED.resolve("expected.safetensors"))) {
            return roselle.tensor.Dequantizer.all(reference.tensor("logits_" + input))[0];
        }
    }

    private static EmbeddingEngine open(Path model, int context) {
        var device = new DeviceOptions("cpu", 1, "auto", "f32");
        var config = EmbeddingConfig.of(model).with(device);
        return EmbeddingEngine.open(new EmbeddingConfig(
                model, device, context, config.stepTokens(), config.stepTexts(), config.maxWaiting()));
    }
}
