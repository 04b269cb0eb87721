package roselle.embedding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.api.CheckpointException;
import roselle.api.InvalidRequestException;
import roselle.backend.DeviceOptions;

/** Sparse vectors have the tokens that count, and what gives none says why. */
class SparseVectorsTest {
    private static final Path MODELS = TinyEncodersTest.MODELS;
    private static final String TEXT = "a ship by the sea, a story of a ship";

    @TempDir
    private Path folder = Path.of("");

    private static EmbeddingEngine open(Path model) {
        return EmbeddingEngine.open(EmbeddingConfig.of(model).with(new DeviceOptions("cpu", 1, "auto", "f32")));
    }

    private Path copy(String model) throws IOException {
        try (Stream<Path> files = Files.walk(MODELS.resolve(model))) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Path target = folder.resolve(MODELS.resolve(model).relativize(file));
                Files.createDirectories(target.getParent());
                Files.copy(file, target);
            }
        }
        return folder;
    }

    @Test
    void aTokenCountsOnceAndThoseAroundATextDoNot() {
        try (var engine = open(MODELS.resolve("bge-m3"))) {
            SparseVector vector =
                    engine.embedSparse(List.of(TEXT), EmbeddingOptions.DEFAULT).getFirst();
            assertThat(vector.indices())
                    .isNotEmpty()
                    .isSorted()
                    .doesNotHaveDuplicates()
                    .doesNotContain(0, 1, 2, 3);
            for (float value : vector.values()) {
                assertThat(value).isPositive();
            }
            assertThat(engine.embed(List.of(TEXT)).getFirst()).as("dense ones").hasSize(32);
        }
    }

    @Test
    void aTextHasTheSameVectorBesideOthersAndDenseOnes() {
        try (var engine = open(MODELS.resolve("splade"))) {
            var options = EmbeddingOptions.DEFAULT.withSparse(true);
            float[] alone = engine.embed(List.of(TEXT), options).vectors().getFirst();
            assertThat(engine.embed(List.of("hi", TEXT, "the sea"), options)
                            .vectors()
                            .get(1))
                    .isEqualTo(alone);
            assertThatThrownBy(() -> engine.embed(List.of(TEXT)))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("the model's vectors are sparse");
            assertThatThrownBy(() -> engine.embed(List.of(TEXT), options.withDimensions(4)))
                    .hasMessage("dimensions is given, but sparse vectors cannot be cut");
        }
    }

    @Test
    void aPickledHeadIsNotRead() throws IOException {
        Path model = copy("bge-m3");
        Files.move(model.resolve("sparse_linear.safetensors"), model.resolve("sparse_linear.pt"));
        try (var engine = open(model)) {
            assertThat(engine.embed(List.of(TEXT))).hasSize(1);
            assertThatThrownBy(() -> engine.embedSparse(List.of(TEXT), EmbeddingOptions.DEFAULT))
                    .hasMessage("sparse_linear.pt is a pickle, which is code and is not read: convert it to"
                            + " sparse_linear.safetensors");
        }
        try (var engine = open(MODELS.resolve("bert"))) {
            assertThatThrownBy(() -> engine.embedSparse(List.of(TEXT), EmbeddingOptions.DEFAULT))
                    .hasMessageStartingWith("the model has no sparse vectors");
        }
    }

    @Test
    void aHeadOfAnotherModelIsRefused() throws IOException {
        Path model = copy("bge-m3");
        Files.copy(
                MODELS.resolve("bert/model.safetensors"),
                model.resolve("sparse_linear.safetensors"),
                StandardCopyOption.REPLACE_EXISTING);
        assertThatThrownBy(() -> open(model))
                .isInstanceOf(CheckpointException.class)
                .hasMessageContaining("sparse_linear.safetensors");
    }

    @Test
    void otherPoolingsAndHeadsAreRefusedByName() throws IOException {
        Path model = copy("splade");
        Path pooling = model.resolve("1_SpladePooling/config.json");
        Files.writeString(pooling, "{\"pooling_strategy\": \"sum\"}");
        assertThatThrownBy(() -> open(model)).hasMessageContaining("pooling_strategy is sum; supported is max");
        Files.writeString(pooling, "{\"activation_function\": \"gelu\"}");
        assertThatThrownBy(() -> open(model))
                .hasMessageContaining("activation_function is gelu; supported is relu or log1p_relu");
        Files.writeString(pooling, "{}");
        Path config = model.resolve("config.json");
        String said = Files.readString(config);
        Files.writeString(config, said.replace("\"tie_word_embeddings\": true", "\"tie_word_embeddings\": false"));
        assertThatThrownBy(() -> open(model)).hasMessageContaining("tie_word_embeddings is false");
        Files.writeString(config, said.replace("\"model_type\": \"bert\"", "\"model_type\": \"electra\""));
        assertThatThrownBy(() -> open(model))
                .hasMessageContaining("the head that guesses tokens of electra is not known");
    }
}
