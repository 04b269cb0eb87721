package roselle.model.adapter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.api.CheckpointException;
import roselle.backend.reference.ReferenceDevice;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.execution.Verification;

/** What is wrong with an adapter is said in one sentence; nothing of it is ignored. */
class AdapterFilesTest {
    private static final Path RESOURCES = Path.of("src/test/resources");
    private static final Path ADAPTER = RESOURCES.resolve("adapters/qwen3-bias");
    private static final Path MODEL = RESOURCES.resolve("variant-models/qwen3-bias");

    @TempDir
    private Path folder;

    @BeforeEach
    void copy() throws IOException {
        try (Stream<Path> files = Files.list(ADAPTER)) {
            for (Path file : files.toList()) {
                Files.copy(file, folder.resolve(file.getFileName()));
            }
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "\"use_dora\": false | \"use_dora\": true | use_dora (DoRA) is set",
                "\"lora_bias\": false | \"lora_bias\": true | lora_bias is set",
                "\"modules_to_save\": null | \"modules_to_save\": [\"lm_head\"] | there is no tensor of lm_head, which modules_to_save names",
                "\"peft_type\": \"LORA\" | \"peft_type\": \"LOHA\" | peft_type is LOHA; supported is LORA",
                "\"bias\": \"none\" | \"bias\": \"all\" | bias is all; supported is none",
                "\"init_lora_weights\": true | \"init_lora_weights\": \"pissa\" | may have changed the model's own weights",
                "\"r\": 4 | \"r\": 8 | have rank 4, but",
                "\"r\": 4 | \"r\": \"x\" | is \"x\", not an integer",
                "\"lora_alpha\": 8 | \"lora_alpha\": 1e300 | the scale of",
                "\"revision\": null | \"new_field\": [1] | new_field is set, which Roselle does not know how to honour",
                "\"rank_pattern\": {} | \"rank_pattern\": {\"(\": 4} | the pattern ( is no regular expression",
                "\"rank_pattern\": {} | \"rank_pattern\": {\"(.*)*(.*)*(.*)*x\": 4} | takes too long",
            })
    void refusesConfigurationsThatItCannotHonour(String from, String to, String sentence) throws IOException {
        Path config = folder.resolve("adapter_config.json");
        String text = Files.readString(config);
        assertThat(text).contains(from);
        Files.writeString(config, text.replace(from, to));
        assertThatThrownBy(this::run)
                .isInstanceOf(CheckpointException.class)
                .hasMessageContaining(sentence)
                .hasMessageNotContaining("\n");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "layers.1.mlp.up_proj.lora_B | layers.7.mlp.up_proj.lora_B | lora_B.weight is missing; the adapter is not complete",
                "layers.1.mlp.up_proj | layers.7.mlp.up_proj | which the model does not have; the adapter is for another model",
                "base_model.model.model.layers.1.mlp.up_proj | base_model.model.model.layers.1.mlp.up_prOJ | does not have",
                "up_proj.lora_A.weight | up_proj.lora_A_weight | is no matrix of a low-rank pair",
                "layers.1.mlp.up_proj | layers.1.mlp.input_norm | which the model does not have",
            })
    void refusesTensorsThatItCannotAdd(String from, String to, String sentence) throws IOException {
        rename(from, to);
        assertThatThrownBy(this::run)
                .isInstanceOf(CheckpointException.class)
                .hasMessageContaining(sentence)
                .hasMessageNotContaining("\n");
    }

    /** Renames tensors, whose names may not become longer or shorter by more than padding takes. */
    private void rename(String from, String to) throws IOException {
        Path file = folder.resolve("adapter_model.safetensors");
        String bytes = Files.readString(file, StandardCharsets.ISO_8859_1);
        int headerEnd = bytes.indexOf("}}") + 2;
        String header = bytes.substring(8, headerEnd).replace(from, to);
        assertThat(header).contains(to);
        String padded = header + " ".repeat(16);
        long length = padded.length();
        var prefix = new StringBuilder();
        for (int i = 0; i < 8; i++) {
            prefix.append((char) ((length >>> (8 * i)) & 0xFF));
        }
        int stated = bytes.charAt(0) + 256 * bytes.charAt(1);
        Files.writeString(file, prefix + padded + bytes.substring(8 + stated), StandardCharsets.ISO_8859_1);
    }

    @Test
    void refusesAFileThatIsTorn() throws IOException {
        Path file = folder.resolve("adapter_model.safetensors");
        byte[] bytes = Files.readAllBytes(file);
        Files.write(file, Arrays.copyOf(bytes, bytes.length - 100));
        assertThatThrownBy(this::run).isInstanceOf(CheckpointException.class).hasMessageNotContaining("\n");
    }

    @Test
    void refusesNumbersThatAreNone() throws IOException {
        Path file = folder.resolve("adapter_model.safetensors");
        byte[] bytes = Files.readAllBytes(file);
        bytes[bytes.length - 1] = 0x7F; // of a bfloat16: NaN
        bytes[bytes.length - 2] = (byte) 0xC0;
        Files.write(file, bytes);
        assertThatThrownBy(this::run)
                .isInstanceOf(CheckpointException.class)
                .hasMessageContaining("has a number that is NaN");
    }

    @Test
    void refusesAnAdapterOfAnotherModel() {
        Path other = RESOURCES.resolve("variant-models/qwen3-moe-dense");
        assertThatThrownBy(() -> run(other))
                .isInstanceOf(CheckpointException.class)
                .hasMessageContaining("; the adapter is for another model");
    }

    @Test
    void saysWhichFileIsNotThere() throws IOException {
        Files.delete(folder.resolve("adapter_model.safetensors"));
        assertThatThrownBy(this::run)
                .isInstanceOf(CheckpointException.class)
                .hasMessageEndingWith("adapter_model.safetensors does not exist");
    }

    @Test
    void isTheSameByItsBytesAlone() throws IOException {
        String digest;
        try (var files = AdapterFiles.open(folder);
                var original = AdapterFiles.open(ADAPTER)) {
            digest = files.digest();
            assertThat(digest).hasSize(64).isEqualTo(original.digest());
            assertThat(files.rank()).isEqualTo(4);
        }
        Path config = folder.resolve("adapter_config.json");
        Files.writeString(config, Files.readString(config).replace("\"lora_alpha\": 8", "\"lora_alpha\": 9"));
        try (var files = AdapterFiles.open(folder)) {
            assertThat(files.digest()).isNotEqualTo(digest);
        }
    }

    private List<Verification.Difference> run() {
        return run(MODEL);
    }

    private List<Verification.Difference> run(Path model) {
        try (Checkpoint expected = Checkpoints.open(ADAPTER.resolve("expected.safetensors"));
                var device = new ReferenceDevice()) {
            return Verification.of(expected).run(model, Optional.of(folder), device, 0);
        }
    }
}
