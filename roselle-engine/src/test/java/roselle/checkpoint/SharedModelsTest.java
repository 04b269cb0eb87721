package roselle.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import roselle.checkpoint.path.Checkpoints;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.testing.SharedData;
import roselle.tokenizer.EncodeOptions;

@Tag("shared-data")
class SharedModelsTest {
    @Test
    void opensARealGgufWithItsMetadataAndTensors() {
        try (var checkpoint = Checkpoints.open(SharedData.path("stories260k/stories260K.gguf"))) {
            var config = checkpoint.config();
            assertThat(checkpoint.format()).isEqualTo(Checkpoint.Format.GGUF);
            assertThat(config.string("general.architecture")).isEqualTo("llama");
            assertThat(config.integer("llama.block_count")).isEqualTo(5);
            assertThat(config.integers("llama.attention.head_count_kv")).containsExactly(4);
            assertThat(config.number("llama.attention.layer_norm_rms_epsilon")).isEqualTo((double) 1e-5f);
            assertThat(config.strings("tokenizer.ggml.tokens")).hasSize(512).contains("<s>", "<0x0A>");
            var embedding = checkpoint.tensor("token_embd.weight");
            assertThat(embedding.shape()).isEqualTo(Shape.of(512, 64));
            assertThat(embedding.type()).isEqualTo(DataType.F32);
            assertThat(embedding.data().get(ValueLayout.JAVA_FLOAT_UNALIGNED, 0))
                    .isFinite();
        }
    }

    @Test
    void opensEveryTinyModelWithItsExpectations() throws IOException {
        try (var folders = Files.list(SharedData.path("tiny-models"))) {
            var models = folders.filter(Files::isDirectory).toList();
            assertThat(models).hasSize(24);
            models.forEach(SharedModelsTest::checkTinyModel);
        }
    }

    private static void checkTinyModel(Path folder) {
        try (var model = Checkpoints.open(folder);
                var expected = Checkpoints.open(folder.resolve("expected.safetensors"))) {
            assertThat(model.config().string("model_type")).isNotEmpty();
            assertThat(model.tensors()).isNotEmpty();
            assertThat(expected.tensors()).containsKeys("input_0", "logits_0", "greedy_0");
            assertThat(expected.tensor("logits_0").type()).isEqualTo(DataType.F32);
        }
    }

    @Test
    void makesTheTokenizerOfAGguf() {
        try (var checkpoint = Checkpoints.open(SharedData.path("stories260k/stories260K.gguf"))) {
            var tokenizer = checkpoint.tokenizer();
            int[] ids = tokenizer.encode("Once upon a time", EncodeOptions.PLAIN);
            assertThat(ids).isNotEmpty();
            assertThat(tokenizer.decode(ids, true)).isEqualTo("Once upon a time");
        }
    }
}
