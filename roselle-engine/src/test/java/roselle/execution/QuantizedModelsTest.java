package roselle.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.api.CheckpointException;
import roselle.checkpoint.Checkpoint;
import roselle.quantization.Quantization;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/** What a configuration says of how matrices are stored is honoured, or refused by name before anything is loaded. */
class QuantizedModelsTest {
    private static final Path VARIANTS = Path.of("src/test/resources/variant-models");
    private static final Path MICROSCALED = VARIANTS.resolve("gpt-oss-mxfp4");

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({
        "'{\"quant_method\": \"awq\", \"bits\": 4}', quant_method is awq; supported is",
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

    @Test
    void describesMicroscaledExperts() {
        try (Checkpoint checkpoint = Checkpoint.open(MICROSCALED)) {
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
