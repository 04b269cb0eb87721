package roselle.model.adapter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.api.CheckpointException;
import roselle.backend.memory.AdapterPart;
import roselle.backend.reference.ReferenceDevice;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.execution.Verification;
import roselle.tensor.DataType;
import roselle.tensor.Dequantizer;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/** Adapters of embeddings, logits and experts: what is wrong with them is said in one sentence. */
class OtherPlacesTest {
    private static final Path RESOURCES = Path.of("src/test/resources");

    @TempDir
    private Path folder;

    private Path model = RESOURCES;

    private void take(String adapter) throws IOException {
        try (Stream<Path> files = Files.list(RESOURCES.resolve("adapters").resolve(adapter))) {
            for (Path file : files.toList()) {
                Files.copy(file, folder.resolve(file.getFileName()));
            }
        }
        try (Checkpoint files = Checkpoints.openAdapter(folder)) {
            model = RESOURCES.resolve("variant-models").resolve(files.config().string("base_model_name_or_path"));
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "qwen3-bias-tied | embed_tokens.lora_embedding_B | embed_tokens.lora_embedding_X | lora_embedding_B is missing; the adapter is not complete",
                "qwen3-bias-tied | embed_tokens.lora_embedding_A | embed_tokens.lora_embedding_X | lora_embedding_A is missing; the adapter is not complete",
                "qwen3-bias-tied | model.embed_tokens.lora_ | model.embed_takens.lora_ | which the model does not have",
                "qwen3-bias-tied | \"shape\":[4,96] | \"shape\":[96,4] | expected one rank for both",
                "phi-norms-saved | lm_head.weight | lm_haad.weight | lm_head.weight is missing",
                "phi-norms-saved | embed_tokens.weight | embed_tokens.waight | there is no tensor of embed_tokens, which modules_to_save names",
                "granite-bias-head | lm_head.weight | lm_haad.weight | there is no tensor of lm_head, which modules_to_save names",
                "qwen3-moe-dense-experts | layers.1.mlp.experts.lora_B | layers.1.mlp.experts.lora_C | is missing; the adapter is not complete",
                "qwen3-moe-dense-experts | layers.1.mlp.experts. | layers.7.mlp.experts. | which the model does not have",
                "mixtral-window-separate | layers.1.block_sparse_moe.experts.4.w1. | layers.1.block_sparse_moe.experts.5.w1. | which the model does not have",
            })
    void refusesTensorsThatDoNotFit(String adapter, String from, String to, String sentence) throws IOException {
        take(adapter);
        header(text -> text.replace(from, to));
        refuses(sentence);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "qwen3-bias-tied | \"ensure_weight_tying\": false | \"ensure_weight_tying\": true | ensure_weight_tying is set for an embedding that is the output, too",
                "phi-norms-saved | \"embed_tokens\" | \"embed_tokens\", \"fc1\" | there is no tensor of fc1, which modules_to_save names",
                "granite-bias-head | \"lm_head\" | \"norm\" | there is no tensor of norm, which modules_to_save names",
                "qwen3-moe-dense-experts | \"mlp.experts.gate_up_proj\" | \"mlp.experts.others\" | has matrices of several parameters (down_proj, others)",
                "qwen3-moe-dense-experts | \"mlp.experts.gate_up_proj\" | \"mlp.absent.gate_up_proj\" | has matrices of several parameters (down_proj), which is not supported",
                "mixtral-window-experts | \"experts.down_proj\" | \"experts.gate_up_proj\" | the adapter is for another model",
                "qwen3-moe-dense-experts | \"r\": 3 | \"r\": 4 | but",
            })
    void refusesConfigurationsThatDoNotFit(String adapter, String from, String to, String sentence) throws IOException {
        take(adapter);
        Path config = folder.resolve("adapter_config.json");
        String text = Files.readString(config);
        assertThat(text).contains(from);
        Files.writeString(config, text.replace(from, to));
        refuses(sentence);
    }

    @ParameterizedTest
    @ValueSource(strings = {"qwen3-bias-tied", "phi-norms-saved", "qwen3-moe-dense-experts", "mixtral-window-separate"})
    void refusesNumbersThatAreNoneAndFilesThatAreTorn(String adapter) throws IOException {
        take(adapter);
        Path file = folder.resolve("adapter_model.safetensors");
        byte[] bytes = Files.readAllBytes(file);
        bytes[bytes.length - 1] = 0x7F; // of a bfloat16: NaN
        bytes[bytes.length - 2] = (byte) 0xC0;
        Files.write(file, bytes);
        refuses("has a number that is NaN");
        Files.write(file, Arrays.copyOf(bytes, bytes.length - 100));
        refuses("");
    }

    @Test
    void refusesATableOfMoreTokens() throws IOException {
        take("phi-norms-saved");
        header(text -> text.replaceFirst("\"base_model.model.lm_head.bias\":\\{.*?},", "")
                .replace("\"shape\":[96,32],\"data_offsets\":[192,", "\"shape\":[99,32],\"data_offsets\":[0,"));
        refuses("has 99 tokens in lm_head, but the model has 96: an adapter cannot change the vocabulary");
    }

    @Test
    void refusesAnEmbeddingThatIsNotTheModels() throws IOException {
        take("qwen3-bias-tied");
        Path file = folder.resolve("adapter_model.safetensors");
        byte[] bytes = Files.readAllBytes(file);
        long length = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong(0);
        bytes[(int) length + 8 + 1] ^= 0x40; // of the first tensor, which is the model's own matrix
        Files.write(file, bytes);
        refuses("is not the model's own");
    }

    @Test
    void namesWhatADeviceCannotChange() throws IOException {
        take("qwen3-bias-tied");
        try (Checkpoint expected = Checkpoints.open(folder.resolve("expected.safetensors"));
                var device = new ReferenceDevice(AdapterPart.Use.PRODUCT)) {
            var verification = Verification.of(expected);
            assertThatThrownBy(() -> verification.run(model, Optional.of(folder), device, 0))
                    .isInstanceOf(CheckpointException.class)
                    .hasMessageContaining("which adapters can on the CPU alone so far");
        }
    }

    @Test
    void readsExpertsOfPeftsFirstVersionsWhichSwapInputsAndOutputs() throws IOException {
        take("qwen3-moe-dense-experts");
        var tensors = new ArrayList<Tensor>();
        try (Checkpoint files = Checkpoints.openAdapter(folder)) {
            for (Tensor tensor : files.tensors().values()) {
                String name = tensor.name();
                boolean isOfExperts = name.contains("experts");
                String other =
                        name.contains("lora_A") ? name.replace("lora_A", "lora_B") : name.replace("lora_B", "lora_A");
                tensors.add(isOfExperts ? swapped(name, files.tensor(other)) : copied(tensor));
            }
        }
        write(tensors);
        Path config = folder.resolve("adapter_config.json");
        Files.writeString(config, Files.readString(config).replace("\"0.21.2\"", "\"0.17.0\""));
        try (Checkpoint expected = Checkpoints.open(folder.resolve("expected.safetensors"));
                var device = new ReferenceDevice()) {
            for (var difference : Verification.of(expected).run(model, Optional.of(folder), device, 0)) {
                assertThat(difference.largest()).isLessThan(5e-4);
            }
        }
    }

    /** What the other matrix of a pair, of four experts and rank 3, was to old versions: its columns in the order of rows, or the other way round. */
    private static Tensor swapped(String name, Tensor other) {
        float[] numbers = Dequantizer.all(other);
        boolean wasExpand = name.contains("lora_A");
        int count = wasExpand ? (int) other.shape().rows() : (int) other.shape().columns();
        var turned = new float[numbers.length];
        for (int i = 0; i < count; i++) {
            for (int expert = 0; expert < 4; expert++) {
                for (int j = 0; j < 3; j++) {
                    int row = (expert * 3 + j) * count + i;
                    int column = i * 12 + j * 4 + expert;
                    turned[wasExpand ? row : column] = numbers[wasExpand ? column : row];
                }
            }
        }
        return new Tensor(
                name,
                DataType.F32,
                wasExpand ? Shape.of(12, count) : Shape.of(count, 12),
                MemorySegment.ofArray(turned));
    }

    private static Tensor copied(Tensor tensor) {
        return new Tensor(tensor.name(), DataType.F32, tensor.shape(), MemorySegment.ofArray(Dequantizer.all(tensor)));
    }

    private void write(List<Tensor> tensors) throws IOException {
        var header = new StringBuilder();
        var data = new ByteArrayOutputStream();
        for (Tensor tensor : tensors) {
            Shape shape = tensor.shape();
            header.append(header.isEmpty() ? "{" : ",")
                    .append("\"%s\":{\"dtype\":\"F32\",\"shape\":[%d,%d],\"data_offsets\":[%d,%d]}"
                            .formatted(
                                    tensor.name(),
                                    shape.rows(),
                                    shape.columns(),
                                    data.size(),
                                    data.size() + tensor.data().byteSize()));
            var bytes = new byte[(int) tensor.data().byteSize()];
            MemorySegment.copy(tensor.data(), 0, MemorySegment.ofArray(bytes), 0, bytes.length);
            data.writeBytes(bytes);
        }
        header.append("}").repeat(" ", 7 - (header.length() + 7) % 8);
        var written = ByteBuffer.allocate(8 + header.length() + data.size()).order(ByteOrder.LITTLE_ENDIAN);
        written.putLong(header.length())
                .put(header.toString().getBytes(StandardCharsets.UTF_8))
                .put(data.toByteArray());
        Files.write(folder.resolve("adapter_model.safetensors"), written.array());
    }

    private interface Edit {
        String of(String header);
    }

    /** Edits the names and shapes of tensors. */
    private void header(Edit edit) throws IOException {
        Path file = folder.resolve("adapter_model.safetensors");
        byte[] bytes = Files.readAllBytes(file);
        int length = (int) ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong(0);
        String before = new String(bytes, 8, length, StandardCharsets.UTF_8);
        String after = edit.of(before);
        assertThat(after).isNotEqualTo(before);
        byte[] header = (after + " ".repeat((8 - after.length() % 8) % 8)).getBytes(StandardCharsets.UTF_8);
        var written = ByteBuffer.allocate(8 + header.length + bytes.length - 8 - length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(header.length)
                .put(header)
                .put(bytes, 8 + length, bytes.length - 8 - length);
        Files.write(file, written.array());
    }

    private void refuses(String sentence) {
        assertThatThrownBy(() -> {
                    try (Checkpoint expected = Checkpoints.open(folder.resolve("expected.safetensors"));
                            var device = new ReferenceDevice()) {
                        Verification.of(expected).run(model, Optional.of(folder), device, 0);
                    }
                })
                .isInstanceOf(CheckpointException.class)
                .hasMessageContaining(sentence)
                .hasMessageNotContaining("\n");
    }
}
