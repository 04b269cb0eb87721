package roselle.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.api.CheckpointException;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.quantization.Quantization;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/** GPTQ, AWQ and compressed-tensors: what does not fit together is told in a sentence before anything is loaded. */
class IntegerModelsTest {
    private static final Path VARIANTS = Path.of("../roselle-engine/src/test/resources/variant-models");
    private static final String GATE = "model.layers.0.mlp.gate_proj";

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({
        "gptq, gptq: 4 bits with a scale for each 1×16",
        "awq, awq: 4 bits with a scale for each 1×16",
        "packed8, compressed-tensors: 8 bits with a scale for each 1×16",
        "int8, compressed-tensors: 8 bits with a scale for each row",
        "float8, compressed-tensors: f8_e4m3 with a scale for each row",
        "float8tensor, compressed-tensors: f8_e4m3 with a scale for each tensor"
    })
    void saysHowMatricesAreStored(String form, String description) {
        try (Checkpoint checkpoint = Checkpoints.open(model(form))) {
            assertThat(Quantization.of(checkpoint).description()).contains(description);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "gptq, '\"bits\": 4', '\"bits\": 5', 'bits is 5; supported is [2, 3, 4, 8]'",
        "gptq, '\"bits\": 4', '\"bits\": 8', 'qweight has shape [4, 64] of i32, expected [8, 64] of i32'",
        "gptq, '\"group_size\": 16', '\"group_size\": 0', group_size is 0; supported is a number of columns",
        "gptq, '\"group_size\": 16', '\"group_size\": 32', 'qzeros has shape [2, 8] of i32, expected [1, 8] of i32'",
        "gptq, '\"checkpoint_format\": \"gptq\"', '\"checkpoint_format\": \"marlin\"', checkpoint_format is marlin; supported",
        "gptq, '\"sym\": false', '\"dynamic\": {}', dynamic is not a field that Roselle knows for gptq",
        "awq, '\"version\": \"gemm\"', '\"version\": \"gemv\"', version is gemv; supported is gemm",
        "awq, '\"bits\": 4', '\"bits\": 3', 'bits is 3; supported is [4]'",
        "awq, '\"group_size\": 16', '\"group_size\": -1', 'qzeros has shape [2, 8] of i32, expected [1, 8] of i32'",
        "awq, '\"zero_point\": true', '\"zero_point\": false', zero_point is false; supported is true",
        "awq, '\"quant_method\": \"awq\"', '\"quant_method\": \"hqq\"', quant_method is hqq; supported is",
        "awq, '\"quant_method\": \"awq\"', '\"quant_method\": \"exl3\"', quant_method is exl3; supported is",
        "awq, '\"quant_method\": \"awq\"', '\"quant_method\": \"torchao\"', quant_method is torchao; supported is",
        "packed4, '\"lm_head\"', '\"re:.*gate_proj\"', mlp.gate_proj has codes and scales",
        "packed4, '\"lm_head\"', '\"re:(\"', is no regular expression",
        "packed4, '\"Linear\"', '\"re:.*self_attn.*\"', has codes and scales, but no group of quantization_config",
        "packed4, '\"format\": \"pack-quantized\"', '\"format\": \"marlin-24\"', format is marlin-24; supported is",
        "packed4, '\"kv_cache_scheme\": null', '\"kv_cache_scheme\": {\"num_bits\": 8}', kv_cache_scheme is there",
        "packed4, '\"group_size\": 16', '\"group_size\": 8', 'weight_scale has shape'",
        "packed4, '\"num_bits\": 4', '\"num_bits\": 9', num_bits is 9; supported is 2 to 8",
        "packed4, '\"num_bits\": 4', '\"num_bits\": 4, \"mystery\": 1', mystery is not a field that Roselle knows for compressed",
        "packed4, '\"strategy\": \"group\"', '\"strategy\": \"token\"', strategy is token; supported is",
        "packed4, '\"type\": \"int\"', '\"type\": \"float\"', num_bits is 4; supported is 8"
    })
    void refusesAConfigurationThatDoesNotFit(String form, String before, String after, String message)
            throws IOException {
        String config = Files.readString(model(form).resolve("config.json"));
        String changed = config.replace(before, after);
        assertThat(changed).isNotEqualTo(config);
        AlteredModel.copy(model(form), folder, changed, UnaryOperator.identity());
        assertRefused(message);
    }

    @ParameterizedTest
    @CsvSource({
        "gptq, qzeros",
        "gptq, scales",
        "awq, qzeros",
        "awq, scales",
        "packed4, weight_scale",
        "packed4, weight_zero_point",
        "packed4, weight_shape",
        "int8, weight"
    })
    void refusesCodesWithoutWhatTheyNeed(String form, String ending) throws IOException {
        String name = GATE + "." + ending;
        alter(form, tensors -> {
            assertThat(tensors.removeIf(tensor -> tensor.name().equals(name))).isTrue();
            return tensors;
        });
        assertRefused("tensor " + name + " is missing; the file is not complete");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 0x8000, 0x7e00, 0x7c00, 0xbc00})
    void refusesScalesThatAreNotPositiveNumbers(int bits) throws IOException {
        for (String form : List.of("gptq", "awq")) {
            change(form, "scales", data -> data.set(ValueLayout.JAVA_SHORT_UNALIGNED, 6, (short) bits));
            assertRefused("tensor " + GATE + ".scales has the scale " + Float.float16ToFloat((short) bits)
                    + " at 3; scales are positive and finite");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 2, Integer.MAX_VALUE, Integer.MIN_VALUE})
    void refusesGroupsThatAreNotThere(int group) throws IOException {
        change("gptq", "g_idx", data -> data.set(ValueLayout.JAVA_INT_UNALIGNED, 20, group));
        assertRefused("tensor " + GATE + ".g_idx has the group " + group + " at 5, but there are 2");
    }

    @Test
    void refusesAShapeThatIsNotTheModels() throws IOException {
        change("packed4", "weight_shape", data -> data.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, 47));
        assertRefused("tensor " + GATE + ".weight_shape says [47, 32], expected [48, 32]");
    }

    @Test
    void readsOverABiasOfZerosAlone() throws IOException {
        Shape shape = Shape.of(48);
        for (byte number : new byte[] {0, 1}) {
            alter("gptq", tensors -> {
                var data = MemorySegment.ofArray(new byte[96]);
                data.set(ValueLayout.JAVA_BYTE, 90, number);
                tensors.add(new Tensor(GATE + ".bias", DataType.F16, shape, data));
                return tensors;
            });
            if (number == 0) {
                assertThat(AlteredModel.plan(folder).copiedBytes())
                        .isEqualTo(AlteredModel.plan(model("gptq")).copiedBytes());
            } else {
                assertRefused(GATE + ".bias is not part of this architecture");
            }
        }
    }

    @Test
    void refusesATensorThatNoModuleHas() throws IOException {
        alter("awq", tensors -> {
            tensors.add(new Tensor("model.norm.scales", DataType.F16, Shape.of(1), MemorySegment.ofArray(new byte[2])));
            return tensors;
        });
        assertRefused("tensor model.norm.scales is not part of this architecture");
    }

    private static Path model(String form) {
        return VARIANTS.resolve("qwen3-" + form);
    }

    private void change(String form, String ending, AlteredModel.Change change) throws IOException {
        AlteredModel.change(model(form), folder, GATE + "." + ending, change);
    }

    private void alter(String form, UnaryOperator<List<Tensor>> tensors) throws IOException {
        AlteredModel.copy(model(form), folder, Files.readString(model(form).resolve("config.json")), tensors);
    }

    private void assertRefused(String message) {
        assertThatThrownBy(() -> AlteredModel.plan(folder))
                .isInstanceOf(CheckpointException.class)
                .hasMessageContaining(message)
                .hasMessageNotContaining("\n");
    }
}
