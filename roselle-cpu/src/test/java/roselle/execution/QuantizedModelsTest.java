package roselle.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.api.CheckpointException;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.cpu.CpuDevice;
import roselle.cpu.option.CpuOptions;
import roselle.cpu.option.CpuPath;
import roselle.cpu.option.Precision;
import roselle.model.LoadPlan;
import roselle.quantization.Quantization;
import roselle.tensor.DataType;
import roselle.tensor.Dequantizer;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/** What a configuration says of how matrices are stored is honoured, or refused by name before anything is loaded. */
class QuantizedModelsTest {
    private static final Path VARIANTS = Path.of("../roselle-engine/src/test/resources/variant-models");
    private static final Path MICROSCALED = VARIANTS.resolve("gpt-oss-mxfp4");

    /** FP8 and MXFP4, whose scales are powers of two in tensors of their own. */
    private static final Path PUBLISHED =
            VARIANTS.resolveSibling("similar-models").resolve("deepseek_v4-published");

    private static final Path FLOAT8 = VARIANTS.resolve("qwen3-fp8");
    private static final String SCALES = "model.layers.1.mlp.gate_proj.weight_scale_inv";

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({
        "'{\"quant_method\": \"bitsandbytes\", \"bits\": 4}', bits is not a field that Roselle knows for bitsandbytes",
        "'{\"quant_method\": \"hqq\", \"bits\": 4}', quant_method is hqq; supported is",
        "'{\"bits\": 4}',                            has no field quant_method",
        "'{\"quant_method\": 4}',                    'quant_method is 4, not a string'",
        "'[]',                                       'quantization_config is [], not an object'",
        "'{\"quant_method\": \"mxfp4\", \"mystery\": 1}', mystery is not a field that Roselle knows for mxfp4",
        "'{\"quant_method\": \"mxfp4\", \"modules_to_not_convert\": [1]}', 'modules_to_not_convert is 1, not a string'"
    })
    void namesWhatItDoesNotKnowOfAConfiguration(String quantization, String message) throws IOException {
        String config = Files.readString(VARIANTS.resolve("qwen3-bias/config.json"))
                .replaceFirst("\\{", "{\"quantization_config\": " + quantization.replace("\\", "\\\\") + ",");
        AlteredModel.copy(VARIANTS.resolve("qwen3-bias"), folder, config, UnaryOperator.identity());
        assertRefused(message);
    }

    @Test
    void readsAConfigurationThatSaysNothing() throws IOException {
        String config = Files.readString(VARIANTS.resolve("qwen3-bias/config.json"))
                .replaceFirst("\\{", "{\"quantization_config\": null,");
        AlteredModel.copy(VARIANTS.resolve("qwen3-bias"), folder, config, UnaryOperator.identity());
        assertThat(AlteredModel.plan(folder)).isEqualTo(AlteredModel.plan(VARIANTS.resolve("qwen3-bias")));
    }

    @Test
    void refusesBlocksWithoutTheirScales() throws IOException {
        alter(MICROSCALED, tensors -> {
            tensors.removeIf(tensor -> tensor.name().endsWith("0.mlp.experts.down_proj_scales"));
            return tensors;
        });
        assertRefused("tensor model.layers.0.mlp.experts.down_proj_scales is missing");
    }

    @Test
    void refusesScalesOfAnotherShape() throws IOException {
        alter(MICROSCALED, tensors -> {
            tensors.replaceAll(tensor -> tensor.name().endsWith("0.mlp.experts.down_proj_scales")
                    ? new Tensor(tensor.name(), DataType.U8, Shape.of(3, 32, 1), zeros(96))
                    : tensor);
            return tensors;
        });
        assertRefused("down_proj_scales has shape [3, 32, 1] of u8, expected [3, 32, 2] of u8");
    }

    @ParameterizedTest
    @CsvSource({
        "layers.1.ffn.experts.2.w1.scale, 32, 1, 255, has the scale NaN at 0",
        "layers.1.attn.wq_b.scale,         1, 1, 255, has the scale NaN at 0",
        "layers.1.ffn.experts.2.w1.scale, 16, 2, 127, 'has shape [16, 2] of u8, expected [32, 1] of u8'",
        "layers.1.attn.wq_b.scale,         2, 1, 127, 'has shape [2, 1] of u8, expected [1, 1] of u8'"
    })
    void refusesPowersOfTwoThatScaleNothing(String name, int rows, int columns, int exponent, String message)
            throws IOException {
        MemorySegment bytes = zeros(rows * columns).fill((byte) exponent);
        alter(PUBLISHED, tensors -> {
            tensors.replaceAll(tensor -> tensor.name().equals(name)
                    ? new Tensor(name, DataType.U8, Shape.of(rows, columns), bytes)
                    : tensor);
            return tensors;
        });
        assertRefused("tensor " + name + " " + message);
    }

    @ParameterizedTest
    @CsvSource({
        "'\"fmt\": \"e4m3\"',                  '\"fmt\": \"e5m2\"',                   fmt is e5m2; supported is e4m3",
        "'\"activation_scheme\": \"dynamic\"', '\"activation_scheme\": \"token\"',    'activation_scheme is token; supported is dynamic or static'",
        "'\"fmt\": \"e4m3\"',                  '\"scale_fmt\": \"log\"',              scale_fmt is log; supported is float or ue8m0",
        "'\"fmt\": \"e4m3\"',                  '\"expert_dtype\": \"fp6\"',           expert_dtype is fp6; supported is fp8 or fp4",
        "'\"fmt\": \"e4m3\"',                  '\"kv_cache_scheme\": \"fp8\"',        kv_cache_scheme is not a field that Roselle knows for fp8",
        "'\"fmt\": \"e4m3\"', '\"ignored_layers\": [\"model.layers.1.self_attn\"]', says that model.layers.1.self_attn is not converted",
        "'\"fmt\": \"e4m3\"', '\"modules_to_not_convert\": [\"model.layers.0.mlp.up_proj\"]', says that model.layers.0.mlp.up_proj is not converted",
    })
    void refusesFloat8InAnotherForm(String before, String after, String message) throws IOException {
        alterFloat8(before, after);
        assertRefused(message);
    }

    @ParameterizedTest
    @CsvSource({
        "'[128]',           'weight_block_size is [128]; supported is two sizes of a block, such as [128, 128]'",
        "'[0, 128]',        'weight_block_size is [0, 128]; supported'",
        "'[128, -128]',     'weight_block_size is [128, -128]; supported'",
        "'[128, 2000000]',  'weight_block_size is [128, 2000000]; supported'",
        "'[128, 1.5]',      'weight_block_size is 1.5, not an integer'",
        "'null',            'expected [136, 1], one scale for each 1×136 of [136, 136]'",
        "'[64, 128]',       'expected [3, 2], one scale for each 64×128 of [136, 136]'",
        "'[100, 60]',       'expected [2, 3], one scale for each 100×60 of [136, 136]'",
    })
    void refusesBlocksThatAreNoneOrNotThoseOfTheScales(String size, String message) throws IOException {
        alterFloat8("(?s)\"weight_block_size\": \\[.*?]", "\"weight_block_size\": " + size);
        assertRefused(message);
    }

    @Test
    void refusesFloat8WithoutItsScales() throws IOException {
        alter(FLOAT8, tensors -> {
            tensors.removeIf(tensor -> tensor.name().equals(SCALES));
            return tensors;
        });
        assertRefused("tensor " + SCALES + " is missing; the file is not complete");
    }

    @Test
    void refusesScalesThatNothingHas() throws IOException {
        alter(FLOAT8, tensors -> {
            tensors.add(new Tensor("model.norm.weight_scale_inv", DataType.F32, Shape.of(1, 1), zeros(4)));
            return tensors;
        });
        assertRefused("tensor model.norm.weight_scale_inv is not part of this architecture");
    }

    @Test
    void refusesTruncatedScales() throws IOException {
        alter(FLOAT8, tensors -> replaced(tensors, DataType.BF16, Shape.of(2, 1), zeros(4)));
        assertRefused(SCALES + " has shape [2, 1], expected [2, 2], one scale for each 128×128 of [144, 136]");
    }

    @Test
    void refusesAFileThatEndsWithinItsScales() throws IOException {
        alter(FLOAT8, tensors -> {
            tensors.sort(Comparator.comparing(tensor -> tensor.name().equals(SCALES))); // the last one
            return tensors;
        });
        Path file = folder.resolve("model.safetensors");
        byte[] all = Files.readAllBytes(file);
        Files.write(file, Arrays.copyOf(all, all.length - 2));
        assertRefused("is more than the file's size");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 0x8000, 0x7fc0, 0x7f80, 0xbf80})
    void refusesScalesThatAreNotPositiveNumbers(int bits) throws IOException {
        alter(FLOAT8, tensors -> {
            MemorySegment scales = zeros(8);
            for (int i = 0; i < 4; i++) {
                scales.set(ValueLayout.JAVA_SHORT_UNALIGNED, 2L * i, (short) (i == 2 ? bits : 0x3c00));
            }
            return replaced(tensors, DataType.BF16, Shape.of(2, 2), scales);
        });
        assertRefused("tensor " + SCALES + " has the scale " + Float.intBitsToFloat(bits << 16)
                + " at 2; scales are positive and finite");
    }

    @Test
    void plansScalesWithTheirCodesAndCopiesNeither() {
        try (Checkpoint checkpoint = Checkpoints.open(FLOAT8)) {
            LoadPlan plan = AlteredModel.plan(FLOAT8);
            assertThat(plan.weightBytes()).isEqualTo(checkpoint.tensorBytes());
            assertThat(plan.copiedBytes()).isLessThan(checkpoint.tensorBytes() / 20); // norms, angles
            assertThat(Quantization.of(checkpoint).description()).contains("f8_e4m3 with a scale for each 128×128");
        }
    }

    /** Both read the same numbers in the same order, so that not one bit may differ. */
    @Test
    void givesTheBitsOfTheSameNumbersInFloat32() throws IOException {
        String config = Files.readString(FLOAT8.resolve("config.json"))
                .replaceFirst("(?s),\\s*\"quantization_config\": \\{.*?}", "");
        AlteredModel.copy(FLOAT8, folder, config, QuantizedModelsTest::expanded);
        var vector = CpuOptions.all().with(Precision.F32).with(CpuPath.VECTOR);
        try (Checkpoint reference = Checkpoints.open(FLOAT8.resolve("expected.safetensors"));
                var device = new CpuDevice(vector)) {
            var verification = Verification.of(reference);
            assertThat(verification.run(FLOAT8, device, 0)).isEqualTo(verification.run(folder, device, 0));
        }
    }

    /** Code times scale, by a way of its own. */
    private static List<Tensor> expanded(List<Tensor> tensors) {
        var plain = new ArrayList<Tensor>();
        for (Tensor tensor : tensors) {
            Optional<Tensor> scales = tensors.stream()
                    .filter(other -> other.name().equals(tensor.name() + "_scale_inv"))
                    .findFirst();
            if (scales.isPresent()) {
                float[] numbers = Dequantizer.all(tensor);
                float[] factors = Dequantizer.all(scales.get());
                int columns = (int) tensor.shape().columns();
                int across = (int) scales.get().shape().columns();
                for (int i = 0; i < numbers.length; i++) {
                    numbers[i] *= factors[i / columns / 128 * across + i % columns / 128];
                }
                var bytes = ByteBuffer.allocate(4 * numbers.length).order(ByteOrder.LITTLE_ENDIAN);
                bytes.asFloatBuffer().put(numbers);
                plain.add(
                        new Tensor(tensor.name(), DataType.F32, tensor.shape(), MemorySegment.ofArray(bytes.array())));
            } else if (!tensor.name().endsWith("_scale_inv")) {
                plain.add(tensor);
            }
        }
        return plain;
    }

    private static List<Tensor> replaced(List<Tensor> tensors, DataType type, Shape shape, MemorySegment data) {
        tensors.replaceAll(tensor -> tensor.name().equals(SCALES) ? new Tensor(SCALES, type, shape, data) : tensor);
        return tensors;
    }

    private void alterFloat8(String before, String after) throws IOException {
        String config = Files.readString(FLOAT8.resolve("config.json"));
        String changed = config.replaceFirst(before, after);
        assertThat(changed).isNotEqualTo(config);
        AlteredModel.copy(FLOAT8, folder, changed, UnaryOperator.identity());
    }

    @Test
    void describesMicroscaledExperts() {
        try (Checkpoint checkpoint = Checkpoints.open(MICROSCALED)) {
            assertThat(Quantization.of(checkpoint).description()).contains("mxfp4 with a scale for each 1×32");
        }
    }

    private void alter(Path model, UnaryOperator<List<Tensor>> tensors) throws IOException {
        AlteredModel.copy(model, folder, Files.readString(model.resolve("config.json")), tensors);
    }

    private static MemorySegment zeros(int bytes) {
        return MemorySegment.ofArray(new byte[bytes]);
    }

    private void assertRefused(String message) {
        assertThatThrownBy(() -> AlteredModel.plan(folder))
                .isInstanceOf(CheckpointException.class)
                .hasMessageContaining(message)
                .hasMessageNotContaining("\n");
    }
}
