package roselle.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.api.CheckpointException;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.checkpoint.summary.ModelSummary;
import roselle.quantization.Quantization;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/** bitsandbytes, ModelOpt, NVFP4 and microscaling: what does not fit together is told in a sentence before anything is loaded. */
class SmallFloatModelsTest {
    private static final Path VARIANTS = Path.of("../roselle-engine/src/test/resources/variant-models");
    private static final String GATE = "model.layers.0.mlp.gate_proj.";
    private static final String STATE = "weight.quant_state.bitsandbytes__nf4";

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({
        "nf4, bitsandbytes: 4 bits (nf4)",
        "nf4double, 'bitsandbytes: 4 bits (nf4), scales of 8 bits'",
        "fp4double, 'bitsandbytes: 4 bits (fp4), scales of 8 bits'",
        "bytes, bitsandbytes: 8 bits with a scale for each row",
        "modelopt, modelopt: MIXED_PRECISION",
        "nvfp4, compressed-tensors: nvfp4 with a scale for each 1×16",
        "micro4, compressed-tensors: mxfp4 with a scale for each 1×32",
        "micro8, compressed-tensors: f8_e4m3 with a scale for each 1×32",
        "float8static, f8_e4m3 with a scale for each tensor or row"
    })
    void saysHowMatricesAreStored(String form, String description) {
        try (Checkpoint checkpoint = Checkpoints.open(model(form))) {
            assertThat(Quantization.of(checkpoint).description()).contains(description);
        }
    }

    @ParameterizedTest
    @CsvSource({"nf4", "nf4double", "fp4double", "bytes", "modelopt", "nvfp4", "float8static", "gptq8"})
    void countsTheNumbersOfAModelWithoutItsScales(String form) {
        try (Checkpoint checkpoint = Checkpoints.open(model(form));
                Checkpoint plain = Checkpoints.open(model("packed8"))) {
            assertThat(numbers(checkpoint)).isEqualTo(numbers(plain));
        }
    }

    private static long numbers(Checkpoint checkpoint) {
        return ModelSummary.of(checkpoint, Quantization.of(checkpoint)::use).parameters();
    }

    @ParameterizedTest
    @CsvSource({
        "nf4, '\"nf4\"', '\"int4\"', bnb_4bit_quant_type is int4; supported is nf4 or fp4",
        "nf4, '\"load_in_4bit\"', '\"load_in_2bit\"', load_in_2bit is not a field that Roselle knows for bitsandbytes",
        "modelopt, 'MIXED_PRECISION', 'W4A8_AWQ', quant_algo is W4A8_AWQ; supported is FP8",
        "modelopt, '\"quant_algo\": \"NVFP4\"', '\"quant_algo\": \"INT4_AWQ\"', quant_algo is INT4_AWQ; supported is FP8",
        "modelopt, '\"quant_algo\": \"NVFP4\"', '\"quant_algo\": \"MIXED_PRECISION\"', supported is one algorithm for a layer",
        "modelopt, '\"producer\"', '\"mystery\"', mystery is not a field that Roselle knows for modelopt",
        "nvfp4, '\"group_size\": 16', '\"group_size\": 32', num_bits is 4; supported is 8",
        "nvfp4, '\"type\": \"float\"', '\"type\": \"int\"', strategy is tensor_group; supported is tensor",
        "micro8, '\"group_size\": 32', '\"group_size\": 16', weight_scale has shape",
        "micro4, mxfp4-pack-quantized, mxfp6-pack-quantized, format is mxfp6-pack-quantized; supported is"
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
        "nf4, weight.absmax",
        "nf4, weight.quant_map",
        "nf4double, weight.nested_absmax",
        "nf4double, weight.nested_quant_map",
        "nf4, " + STATE,
        "bytes, SCB",
        "modelopt, weight_scale",
        "nvfp4, weight_scale",
        "nvfp4, weight_global_scale",
        "micro4, weight_scale",
        "micro8, weight_scale"
    })
    void refusesCodesWithoutWhatTheyNeed(String form, String ending) throws IOException {
        String name = GATE + ending;
        AlteredModel.copy(model(form), folder, config(form), tensors -> {
            assertThat(tensors.removeIf(tensor -> tensor.name().equals(name))).isTrue();
            return tensors;
        });
        assertRefused("tensor " + name + " is missing; the file is not complete");
    }

    @ParameterizedTest
    @CsvSource({
        "nf4, weight.absmax",
        "nf4, weight",
        "nf4double, weight.absmax",
        "bytes, SCB",
        "bytes, weight",
        "nvfp4, weight_scale",
        "nvfp4, weight_packed",
        "micro4, weight_scale",
        "micro8, weight_scale"
    })
    void refusesTornTensors(String form, String ending) throws IOException {
        String name = GATE + ending;
        AlteredModel.copy(model(form), folder, config(form), tensors -> {
            tensors.replaceAll(tensor -> tensor.name().equals(name) ? torn(tensor) : tensor);
            return tensors;
        });
        assertRefused("tensor " + name + " has ");
    }

    /** Half of a tensor. */
    private static Tensor torn(Tensor tensor) {
        long[] extents = tensor.shape().toArray();
        extents[0] /= 2;
        Shape half = Shape.of(extents);
        return new Tensor(
                tensor.name(),
                tensor.type(),
                half,
                tensor.data().asSlice(0, half.rows() * tensor.type().rowBytes(half.columns())));
    }

    @ParameterizedTest
    @CsvSource({
        "nf4, weight.absmax, 7fc00000, absmax has the scale NaN at 0; scales are finite",
        "nf4, weight.absmax, 7f800000, absmax has the scale Infinity at 0; scales are finite",
        "nf4, weight.quant_map, 7fc00000, quant_map has NaN; numbers of a table are finite",
        "nf4double, weight.nested_absmax, 7fc00000, absmax has the scale NaN at 0; scales are finite",
        "bytes, SCB, 7fc00000, SCB has the scale NaN at 0; scales are positive and finite",
        "bytes, SCB, bf800000, SCB has the scale -1.0 at 0; scales are positive and finite",
        "modelopt, weight_scale, ffffffff, weight_scale has the scale NaN at 0; scales are positive and finite",
        "nvfp4, weight_global_scale, 0, weight_global_scale has the scale 0.0 at 0; scales are positive and finite",
        "nvfp4, weight_scale, 7f7f7f7f, weight_scale has the scale NaN at 0; scales are finite",
        "nvfp4, weight_scale, b8, weight_scale has the scale -",
        "micro4, weight_scale, ff, weight_scale has the scale NaN at 0; scales are positive and finite"
    })
    void refusesScalesThatAreNoNumbers(String form, String ending, String bits, String message) throws IOException {
        change(form, ending, data -> data.set(ValueLayout.JAVA_INT_UNALIGNED, 0, Integer.parseUnsignedInt(bits, 16)));
        assertRefused(message);
    }

    @Test
    void refusesRowsInAnotherOrder() throws IOException {
        change("bytes", "weight_format", data -> data.set(ValueLayout.JAVA_BYTE, 0, (byte) 2));
        assertRefused("weight_format is not 0; supported are rows one after the other alone");
    }

    @ParameterizedTest
    @CsvSource({
        "'{\"shape\": [48, 31], \"blocksize\": 64}', 'shape is [48, 31]; supported is [48, 32]'",
        "'{\"shape\": [48, 32], \"blocksize\": 0}', blocksize is 0; supported is a number from 1 to",
        "'{\"shape\": [48, 32], \"blocksize\": 128}', 'absmax has shape [24] of f32, expected [12] of f32'",
        "'{\"shape\": [48, 32], \"blocksize\": 64, \"quant_type\": \"int4\"}', quant_type is int4; supported is",
        "'{\"shape\": [48, 32], \"blocksize\": 64, \"mystery\": 1}', mystery is not a field that Roselle knows",
        "'{\"shape\": [48, 32], \"blocksize\": 64, \"nested_blocksize\": 256}', has no field nested_offset",
        "'[48, 32]', does not hold a JSON object",
        "'{\"shape\": [48,', the JSON is malformed"
    })
    void refusesAStateThatDoesNotFit(String state, String message) throws IOException {
        byte[] json = state.getBytes(StandardCharsets.UTF_8);
        AlteredModel.copy(model("nf4"), folder, config("nf4"), tensors -> {
            tensors.replaceAll(tensor -> tensor.name().equals(GATE + STATE)
                    ? new Tensor(tensor.name(), DataType.U8, Shape.of(json.length), MemorySegment.ofArray(json))
                    : tensor);
            return tensors;
        });
        assertRefused(message);
    }

    @Test
    void readsTheConfigurationOfModelOptsOwnFile() throws IOException {
        String config = config("modelopt");
        AlteredModel.copy(
                model("modelopt"),
                folder,
                config.substring(0, config.indexOf(",\n  \"quantization_config\"")) + "}",
                UnaryOperator.identity());
        Path file = folder.resolve("hf_quant_config.json");
        String said = """
                {"producer": {"name": "modelopt"}, "quantization":
                 {"quant_algo": "MIXED_PRECISION", "kv_cache_quant_algo": "FP8", "exclude_modules": ["lm_head"]}}""";
        Files.writeString(file, said);
        assertThat(AlteredModel.plan(folder)).isEqualTo(AlteredModel.plan(model("modelopt")));
        Files.writeString(file, said.replace("MIXED_PRECISION", "INT4_AWQ"));
        assertRefused("quant_algo is INT4_AWQ; supported is FP8");
    }

    private static Path model(String form) {
        return VARIANTS.resolve("qwen3-" + form);
    }

    private static String config(String form) throws IOException {
        return Files.readString(model(form).resolve("config.json"));
    }

    private void change(String form, String ending, AlteredModel.Change change) throws IOException {
        AlteredModel.change(model(form), folder, GATE + ending, change);
    }

    private void assertRefused(String message) {
        assertThatThrownBy(() -> AlteredModel.plan(folder))
                .isInstanceOf(CheckpointException.class)
                .hasMessageContaining(message)
                .hasMessageNotContaining("\n");
    }
}
