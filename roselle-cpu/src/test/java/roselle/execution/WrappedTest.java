package roselle.execution;

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
import roselle.backend.memory.KvGroup;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.model.architecture.Architectures;
import roselle.model.spec.DecoderSpec;

/** What configurations leave out or say of decoders beside an encoder, and of Granite's without states. */
class WrappedTest {
    private static final Path MODELS = Path.of("../roselle-engine/src/test/resources/similar-models");

    @TempDir
    private Path folder;

    /** Published ones of Gemma 3 with pictures leave out what transformers assumes. */
    @Test
    void assumesTheSizesThatTransformersDoes() throws IOException {
        DecoderSpec spec = spec(changed(
                "gemma3-siglip",
                "\"(num_attention_heads|num_key_value_heads|sliding_window)\": \\d+,|,\\s*\"vocab_size\": \\d+",
                ""));
        assertThat(spec.vocabulary()).isEqualTo(262_208);
        assertThat(spec.kvGroups())
                .containsExactly(new KvGroup("window", 2, 4, 8, 8, 4096), new KvGroup("full", 1, 4, 8, 8, 0));
    }

    @Test
    void takesNullForWhatItSays() throws IOException {
        assertThat(spec(MODELS.resolve("llava_next")).kvGroups()).containsExactly(new KvGroup("window", 2, 2, 8, 8, 8));
        assertThat(spec(changed("llava_next", "\"sliding_window\": 8", "\"sliding_window\": null"))
                        .kvGroups())
                .containsExactly(new KvGroup("full", 2, 2, 8, 8, 0));
    }

    @Test
    void findsAnOutputMatrixOfItsOwn() {
        assertThat(spec(MODELS.resolve("smolvlm")).isTied()).isTrue();
        assertThat(spec(MODELS.resolve("idefics3")).isTied()).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "llava, \"text_config\", \"text_configuration\", text_config is absent",
        "llava, \"model_type\": \"llama\", \"model_type\": \"mamba\", text_config is mamba",
        "llava, \"mlp_bias\", \"mlp_twist\", mlp_twist is not a field that Roselle knows for llama",
        "granitemoehybrid, \"full_attention\", \"linear\", layer_types is linear"
    })
    void namesWhatItDoesNotSupport(String model, String words, String others, String message) throws IOException {
        Path path = changed(model, words, others);
        assertThatThrownBy(() -> spec(path))
                .isInstanceOf(CheckpointException.class)
                .hasMessageContaining(message);
    }

    private Path changed(String model, String pattern, String replacement) throws IOException {
        String config = Files.readString(MODELS.resolve(model).resolve("config.json"));
        String changed = config.replaceAll(pattern, replacement);
        assertThat(changed).isNotEqualTo(config);
        Files.writeString(folder.resolve("config.json"), changed);
        Files.copy(MODELS.resolve(model).resolve("model.safetensors"), folder.resolve("model.safetensors"));
        return folder;
    }

    private static DecoderSpec spec(Path model) {
        try (Checkpoint checkpoint = Checkpoints.open(model)) {
            return Architectures.read(checkpoint).spec();
        }
    }
}
