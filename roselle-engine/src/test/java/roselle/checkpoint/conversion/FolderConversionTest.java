package roselle.checkpoint.conversion;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.api.CheckpointException;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.Metadata;
import roselle.checkpoint.path.Checkpoints;

final class FolderConversionTest {
    private static final Path MODELS = Path.of("src/test/resources/tiny-models");

    @TempDir
    private Path folder;

    @Test
    void writesTheKeysThatOthersRead() {
        try (Checkpoint checkpoint = Checkpoints.open(MODELS.resolve("phi3"))) {
            Metadata keys = GgufModel.of(checkpoint).keys();
            assertThat(keys.string("general.architecture")).isEqualTo("phi3");
            assertThat(keys.string("general.name")).isEqualTo("phi3");
            assertThat(keys.string("general.size_label")).isEqualTo("109K");
            assertThat(keys.integer("phi3.attention.head_count_kv")).isEqualTo(2);
            assertThat(keys.integer("phi3.rope.scaling.original_context_length"))
                    .isEqualTo(4096);
            assertThat(keys.integer("phi3.attention.sliding_window")).isZero();
            assertThat(keys.string("tokenizer.ggml.model")).isEqualTo("none");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "999, 1.0K",
        "1_500, 1.5K",
        "64_000, 64K",
        "135_000_000, 135M",
        "1_500_000_000, 1.5B",
        "8_030_000_000, 8.0B",
        "70_600_000_000, 71B",
        "1_200_000_000_000, 1.2T"
    })
    void labelsSizesInTwoDigits(String numbers, String label) {
        assertThat(FamilyKeys.label(Long.parseLong(numbers.replace("_", "")))).isEqualTo(label);
    }

    @Test
    void readsYarnAndThePartsOfTheHub() throws IOException {
        Path snapshot = folder.resolve("models--org--Qwen3-Tiny/snapshots/abc");
        altered(
                "qwen3",
                snapshot,
                "\"rope_type\": \"default\"",
                "\"rope_type\": \"yarn\", \"factor\": 4, \"original_max_position_embeddings\": 64");
        Files.writeString(snapshot.resolve("generation_config.json"), "{\"top_k\": 20, \"temperature\": 0.6}");
        try (Checkpoint checkpoint = Checkpoints.open(snapshot)) {
            Metadata keys = GgufModel.of(checkpoint).keys();
            assertThat(keys.string("general.name")).isEqualTo("Qwen3-Tiny");
            assertThat(keys.string("qwen3.rope.scaling.type")).isEqualTo("yarn");
            assertThat(keys.number("qwen3.rope.scaling.factor")).isEqualTo(4);
            assertThat(keys.integer("qwen3.rope.scaling.original_context_length"))
                    .isEqualTo(64);
            assertThat(keys.integer("general.sampling.top_k")).isEqualTo(20);
            assertThat(keys.number("general.sampling.temp")).isEqualTo(0.6f);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "gemma2 | x | x | has query_pre_attn_scalar 20.0 beside heads of 32, for which a GGUF of gemma2",
                "qwen3 | \"attention_bias\": false | \"attention_bias\": true | has attention_bias, for which",
                "qwen2 | \"use_sliding_window\": false | \"use_sliding_window\": true | has use_sliding_window",
                "qwen2 | \"rope_type\": \"default\" | \"rope_type\": \"dynamic\", \"factor\": 2 | has rope_type dynamic",
                "qwen2 | \"rope_type\": \"default\" | \"rope_type\": \"yarn\", \"mscale\": 1 | has mscale of yarn",
                "qwen2 | \"rope_type\": \"default\" | \"rope_type\": \"llama3\" | has rope_type llama3, for which",
                "llama | \"num_attention_heads\": 4 | \"num_attention_heads\": 0 | num_attention_heads is 0, expected",
                "llama | \"num_attention_heads\": 4 | \"num_attention_heads\": 7 | no even rows for each of 7 heads",
                "llama | \"model_type\": \"llama\" | \"model_type\": \"qwen2\" | has rope_type llama3, for which",
                "olmo2 | x | x | models of type olmo2 are not converted from safetensors; those of llama, mistral,",
                "qwen3 | \"model_type\": \"qwen3\" | \"model_type\": \"phi3\" | is none that models of type phi3 are",
                "qwen2 | \"vocab_size\": 320 | \"quantization_config\": {\"quant_method\": \"fp8\"} | says that the model"
                        + " is quantized; begin with one of f32",
            })
    void refusesWhatAGgufCannotSay(String model, String old, String changed, String message) throws IOException {
        altered(model, folder.resolve("model"), old, changed);
        try (Checkpoint checkpoint = Checkpoints.open(folder.resolve("model"))) {
            assertThatThrownBy(() -> GgufModel.of(checkpoint))
                    .isInstanceOf(CheckpointException.class)
                    .hasMessageContaining(message);
        }
    }

    @Test
    void refusesAFolderWithoutTensors() throws IOException {
        altered("qwen2", folder.resolve("model"), "x", "x");
        Files.delete(folder.resolve("model/model.safetensors"));
        try (Checkpoint checkpoint = Checkpoints.open(folder.resolve("model"))) {
            assertThatThrownBy(() -> GgufModel.of(checkpoint))
                    .isInstanceOf(CheckpointException.class)
                    .hasMessageContaining("has no tensor model.embed_tokens.weight: it holds no whole decoder");
        }
    }

    private static void altered(String model, Path target, String old, String changed) throws IOException {
        Files.createDirectories(target);
        String config = Files.readString(MODELS.resolve(model).resolve("config.json"));
        Files.writeString(target.resolve("config.json"), config.replace(old, changed));
        Files.copy(MODELS.resolve(model).resolve("model.safetensors"), target.resolve("model.safetensors"));
    }
}
