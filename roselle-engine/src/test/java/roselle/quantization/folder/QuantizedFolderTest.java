package roselle.quantization.folder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import roselle.api.CheckpointException;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.quantization.NamedTensors;
import roselle.quantization.Quantization;
import roselle.tensor.DataType;
import roselle.tensor.Dequantizer;
import roselle.tensor.Tensor;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

final class QuantizedFolderTest {
    private static final String QUERY = "model.layers.1.self_attn.q_proj";

    @TempDir
    private Path folder;

    private Path source;
    private Path target;

    @BeforeEach
    void writeModel() throws IOException {
        source = folder.resolve("source");
        target = folder.resolve("target");
        RandomFolder.write(source, DataType.BF16);
    }

    private List<String> quantize(FolderType type, int threads) throws IOException {
        var told = new ArrayList<String>();
        try (Checkpoint model = Checkpoints.open(source)) {
            new FolderConversion(FolderPlan.of(model, type), target, threads)
                    .run((index, tensor, isDone) ->
                            told.add(index + " " + tensor.source().name() + (isDone ? " done" : "")));
        }
        return told;
    }

    private static float[] numbers(Checkpoint model, String name) {
        return Dequantizer.all(model.tensor(name));
    }

    private static List<String> modules(Checkpoint plain, FolderType type) {
        return plain.tensors().values().stream()
                .filter(tensor -> tensor.name().contains("_proj"))
                .filter(tensor -> type.fits(tensor.shape()))
                .map(tensor -> tensor.name().replace(".weight", ""))
                .toList();
    }

    @ParameterizedTest
    @EnumSource(names = {"FP8", "FP8_BLOCK"})
    void givesTheNearestNumbersOfEightBits(FolderType type) throws IOException {
        quantize(type, 2);
        try (Checkpoint plain = Checkpoints.open(source);
                Checkpoint written = Checkpoints.open(target)) {
            assertThat(modules(plain, type)).hasSize(14);
            for (String module : modules(plain, type)) {
                Tensor matrix = plain.tensor(module + ".weight");
                String ending = type == FolderType.FP8 ? ".weight_scale" : ".weight_scale_inv";
                float[] wanted = Dequantizer.all(matrix);
                float[] read = readAs(written, module, matrix);
                float[] codes = numbers(written, module + ".weight");
                float[] scales = numbers(written, module + ending);
                int columns = Math.toIntExact(matrix.shape().columns());
                int beside = type == FolderType.FP8 ? 1 : Math.ceilDiv(columns, 128);
                for (int i = 0; i < wanted.length; i++) {
                    int row = i / columns;
                    float scale = scales[type == FolderType.FP8 ? row : row / 128 * beside + i % columns / 128];
                    assertThat(read[i]).isEqualTo(codes[i] * scale);
                    double step = Math.max(0x1p-9, Math.scalb(1.0, Math.getExponent(codes[i]) - 3)) * scale;
                    assertThat(read[i]).isCloseTo(wanted[i], within((float) (step * 0.50001)));
                }
                assertThat(largest(codes)).as(module).isEqualTo(448);
            }
        }
    }

    private static float largest(float[] numbers) {
        float largest = 0;
        for (float number : numbers) {
            largest = Math.max(largest, Math.abs(number));
        }
        return largest;
    }

    /** A matrix as the reader of its configuration binds it. */
    private static float[] readAs(Checkpoint written, String module, Tensor matrix) {
        Quantization quantization = Quantization.of(written);
        NamedTensors tensors = named(written);
        return quantization
                .integers(module, matrix.shape(), tensors, new HeapCopies())
                .orElseGet(() -> quantization.matrix(written.tensor(module + ".weight"), tensors))
                .numbers();
    }

    private static NamedTensors named(Checkpoint written) {
        return new NamedTensors() {
            @Override
            public String source() {
                return written.source().toString();
            }

            @Override
            public Optional<Tensor> find(String name) {
                return Optional.ofNullable(written.tensors().get(name));
            }
        };
    }

    @Test
    void givesTheNearestOfSixteenSteps() throws IOException {
        quantize(FolderType.INT4, 2);
        try (Checkpoint plain = Checkpoints.open(source);
                Checkpoint written = Checkpoints.open(target)) {
            assertThat(modules(plain, FolderType.INT4)).hasSize(12);
            for (String module : modules(plain, FolderType.INT4)) {
                Tensor matrix = plain.tensor(module + ".weight");
                float[] wanted = Dequantizer.all(matrix);
                float[] read = readAs(written, module, matrix);
                float[] scales = numbers(written, module + ".weight_scale");
                assertThat(written.tensor(module + ".weight_scale").type()).isEqualTo(DataType.BF16);
                for (int i = 0; i < wanted.length; i++) {
                    float scale = scales[i / 128];
                    long code = (long) Math.clamp(Math.rint(wanted[i] / scale), -8, 7);
                    assertThat(read[i]).isEqualTo(code * scale);
                    // half a step, and at the upper end what rounding the scale to 8 bits adds
                    assertThat(read[i]).isCloseTo(wanted[i], within(scale * (0.5f + 7.5f / 256)));
                }
                assertThat(numbers(written, module + ".weight_shape"))
                        .containsExactly((float) matrix.shape().rows(), (float)
                                matrix.shape().columns());
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void leavesTheOthersAsTheyAreAndNamesTheirMatrices(FolderType type) throws IOException {
        quantize(type, 1);
        var expected = new TreeSet<>(Set.of("lm_head", "model.embed_tokens"));
        if (type == FolderType.INT4) {
            expected.add("model.layers.0.mlp.down_proj");
            expected.add(RandomFolder.NARROW);
        }
        JsonNode config = json(target.resolve("config.json"));
        JsonNode fields = config.get("quantization_config");
        var ignored = new TreeSet<String>();
        fields.get(type == FolderType.FP8_BLOCK ? "modules_to_not_convert" : "ignore")
                .forEach(module -> ignored.add(module.stringValue()));
        assertThat(ignored).isEqualTo(expected);
        assertThat(config.get("hidden_size").intValue()).isEqualTo(128);
        try (Checkpoint plain = Checkpoints.open(source);
                Checkpoint written = Checkpoints.open(target)) {
            for (Tensor tensor : plain.tensors().values()) {
                String module = tensor.name().replace(".weight", "");
                if (tensor.shape().rank() == 1 || expected.contains(module)) {
                    assertThat(written.tensor(tensor.name()).data().mismatch(tensor.data()))
                            .as(tensor.name())
                            .isEqualTo(-1);
                }
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "FP8, 'compressed-tensors: f8_e4m3 with a scale for each row'",
        "FP8_BLOCK, f8_e4m3 with a scale for each 128×128",
        "INT4, 'compressed-tensors: 4 bits with a scale for each 1×128'"
    })
    void saysInItsConfigurationWhatItIs(FolderType type, String description) throws IOException {
        quantize(type, 1);
        try (Checkpoint written = Checkpoints.open(target)) {
            assertThat(Quantization.of(written).description()).contains(description);
        }
    }

    @Test
    void hasTheFilesOfTheSourceAndNoWeightsOfOtherForms() throws IOException {
        quantize(FolderType.FP8, 1);
        try (var files = Files.walk(target)) {
            assertThat(files.filter(Files::isRegularFile)
                            .map(file -> target.relativize(file).toString().replace('\\', '/')))
                    .containsExactlyInAnyOrder(
                            RandomFolder.FIRST,
                            RandomFolder.SECOND,
                            "model.safetensors.index.json",
                            "config.json",
                            "generation_config.json",
                            "1_Extra/config.json");
        }
        JsonNode index = json(target.resolve("model.safetensors.index.json"));
        try (Checkpoint written = Checkpoints.open(target)) {
            assertThat(index.get("metadata").get("total_size").longValue()).isEqualTo(written.tensorBytes());
        }
        assertThat(index.get("weight_map").get(QUERY + ".weight_scale").stringValue())
                .isEqualTo(RandomFolder.SECOND);
    }

    @Test
    void makesAgainOnlyWhatIsNotWhole() throws IOException {
        assertThat(quantize(FolderType.INT4, 1)).noneMatch(line -> line.endsWith("done"));
        Path first = target.resolve(RandomFolder.FIRST);
        Path second = target.resolve(RandomFolder.SECOND);
        byte[] bytes = Files.readAllBytes(second);
        assertThat(new String(bytes, StandardCharsets.ISO_8859_1)).contains("\"roselle\":\"INT4 of ");
        var longAgo = FileTime.fromMillis(1_000_000);
        Files.setLastModifiedTime(first, longAgo);
        Files.delete(second);
        Files.write(target.resolve(RandomFolder.SECOND + ".part"), Arrays.copyOf(bytes, bytes.length / 2));
        List<String> told = quantize(FolderType.INT4, 3);
        assertThat(told).anyMatch(line -> line.endsWith("done")).anyMatch(line -> line.endsWith(QUERY + ".weight"));
        assertThat(Files.getLastModifiedTime(first)).isEqualTo(longAgo);
        assertThat(Files.readAllBytes(second)).isEqualTo(bytes);
        assertThat(target.resolve(RandomFolder.SECOND + ".part")).doesNotExist();
    }

    @Test
    void makesAllAgainWhereTheRecipeOrTheSourceIsAnother() throws IOException {
        quantize(FolderType.INT4, 1);
        assertThat(quantize(FolderType.FP8, 1)).noneMatch(line -> line.endsWith("done"));
        assertThat(quantize(FolderType.FP8, 1)).allMatch(line -> line.endsWith("done"));
        Files.setLastModifiedTime(source.resolve(RandomFolder.FIRST), FileTime.fromMillis(1_000_000));
        assertThat(quantize(FolderType.FP8, 1))
                .anyMatch(line -> line.endsWith("done"))
                .anyMatch(line -> line.endsWith("embed_tokens.weight"));
    }

    @Test
    void keepsFilesOfOtherModels() throws IOException {
        Files.createDirectories(target);
        Path other = target.resolve("model.safetensors");
        Files.writeString(other, "whatever");
        assertRefused("model.safetensors is of another model; name a folder");
        Files.move(other, target.resolve(RandomFolder.FIRST));
        assertRefused("is of another model; name a folder");
        assertThat(target.resolve(RandomFolder.FIRST)).hasContent("whatever");
        Files.move(target.resolve(RandomFolder.FIRST), target.resolve("config.json"));
        assertRefused("config.json is of another model; name a folder");
        assertThat(target.resolve("config.json")).hasContent("whatever");
    }

    @Test
    void refusesWhatIsNoPlainFolder() throws IOException {
        Path config = source.resolve("config.json");
        String plain = Files.readString(config);
        Files.writeString(config, plain.replaceFirst("\\{", "{\"quantization_config\": {\"quant_method\": \"fp8\"},"));
        assertRefused("is quantized already; begin with a folder of float32, float16 or bfloat16");
        Files.writeString(config, plain.replace("\"llama\"", "\"gpt2\""));
        assertRefused("models of type gpt2 store their matrices turned round");
        Files.writeString(config, plain);
        try (Checkpoint file = Checkpoints.open(source.resolve(RandomFolder.FIRST))) {
            assertThatThrownBy(() -> FolderPlan.of(file, FolderType.FP8))
                    .isInstanceOf(CheckpointException.class)
                    .hasMessageContaining("is no folder of safetensors");
        }
    }

    @Test
    void takesAConfigurationThatSaysThatNothingIsQuantized() throws IOException {
        Path config = source.resolve("config.json");
        Files.writeString(config, Files.readString(config).replaceFirst("\\{", "{\"quantization_config\" : null,"));
        quantize(FolderType.FP8, 1);
        assertThat(json(target.resolve("config.json"))
                        .get("quantization_config")
                        .get("format")
                        .stringValue())
                .isEqualTo("float-quantized");
    }

    @Test
    void readsFloatsOfAllKinds() throws IOException {
        for (DataType type : List.of(DataType.F32, DataType.F16)) {
            RandomFolder.write(source, type);
            quantize(FolderType.FP8, 1);
            try (Checkpoint plain = Checkpoints.open(source);
                    Checkpoint written = Checkpoints.open(target)) {
                Tensor matrix = plain.tensor(QUERY + ".weight");
                assertThat(readAs(written, QUERY, matrix)[5])
                        .isCloseTo(Dequantizer.all(matrix)[5], within(0.07f * largest(Dequantizer.all(matrix))));
            }
        }
    }

    private void assertRefused(String message) {
        assertThatThrownBy(() -> quantize(FolderType.FP8, 1))
                .isInstanceOf(CheckpointException.class)
                .hasMessageContaining(message);
    }

    private static JsonNode json(Path file) throws IOException {
        return JsonMapper.shared().readTree(Files.readString(file));
    }
}
