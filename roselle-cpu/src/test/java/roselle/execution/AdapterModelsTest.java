package roselle.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.api.CheckpointException;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.cpu.CpuDevice;
import roselle.cpu.option.CpuOptions;
import roselle.cpu.option.Precision;

/**
 * Models with adapters compute what PEFT computed: with fused and reordered matrices, patterns of ranks and scales, residuals that are
 * scaled or normalised, latents.
 *
 * <p>The adapters, and what they should give, are made by {@code tools/models/make_adapters.py}, which compares them with merged models.
 */
class AdapterModelsTest {
    private static final Path ADAPTERS = Path.of("../roselle-engine/src/test/resources/adapters");
    private static final Path MODELS = Path.of("../roselle-engine/src/test/resources/variant-models");
    private static final double TOLERANCE = 5e-4;

    @TempDir
    private Path folder;

    static List<Path> adapters() throws IOException {
        try (Stream<Path> files = Files.list(ADAPTERS)) {
            return files.filter(Files::isDirectory).sorted().toList();
        }
    }

    @ParameterizedTest
    @MethodSource("adapters")
    void equalsPeftForWholePromptsAndChunks(Path adapter) {
        List<Verification.Difference> whole = verify(adapter, Optional.of(adapter), 0);
        assertThat(whole).hasSize(2);
        for (Verification.Difference difference : whole) {
            assertThat(difference.largest()).isLessThanOrEqualTo(TOLERANCE);
            assertThat(difference.agreeing()).isEqualTo(8);
        }
        assertThat(verify(adapter, Optional.of(adapter), 5))
                .as("the same bits in chunks of 5")
                .isEqualTo(whole);
    }

    @ParameterizedTest
    @ValueSource(strings = {"granite-bias", "phi3-partial"})
    void equalsPeftFromGguf(String name) throws IOException {
        Path model = folder.resolve("model.gguf");
        Path adapter = folder.resolve("adapter.gguf");
        try (Checkpoint checkpoint = Checkpoints.open(MODELS.resolve(name));
                Checkpoint files = Checkpoints.openAdapter(ADAPTERS.resolve(name))) {
            Files.write(model, GgufModel.of(checkpoint));
            Files.write(adapter, GgufModel.adapter(checkpoint, files));
        }
        try (Checkpoint expected = Checkpoints.open(ADAPTERS.resolve(name).resolve("expected.safetensors"));
                var device = new CpuDevice(CpuOptions.all().with(Precision.F32))) {
            for (Verification.Difference difference :
                    Verification.of(expected).run(model, Optional.of(adapter), device, 0)) {
                assertThat(difference.largest()).isLessThanOrEqualTo(TOLERANCE);
                assertThat(difference.agreeing()).isEqualTo(8);
            }
        }
    }

    @Test
    void refusesTheOtherFormat() throws IOException {
        Path model = folder.resolve("model.gguf");
        Path adapter = ADAPTERS.resolve("granite-bias");
        try (Checkpoint checkpoint = Checkpoints.open(MODELS.resolve("granite-bias"))) {
            Files.write(model, GgufModel.of(checkpoint));
        }
        try (Checkpoint expected = Checkpoints.open(adapter.resolve("expected.safetensors"));
                var device = new CpuDevice(1)) {
            var verification = Verification.of(expected);
            assertThatThrownBy(() -> verification.run(model, Optional.of(adapter), device, 0))
                    .isInstanceOf(CheckpointException.class)
                    .hasMessageContaining("convert the adapter with convert_lora_to_gguf.py");
        }
    }

    @Test
    void differsFromPeftWithoutTheAdapter() {
        Path adapter = ADAPTERS.resolve("qwen3-bias");
        for (Verification.Difference difference : verify(adapter, Optional.empty(), 0)) {
            assertThat(difference.largest()).isGreaterThan(0.1);
        }
    }

    /** The model that an adapter was made for. */
    private static Path model(Path adapter) {
        try (Checkpoint files = Checkpoints.openAdapter(adapter)) {
            return MODELS.resolve(files.config().string("base_model_name_or_path"));
        }
    }

    private static List<Verification.Difference> verify(Path reference, Optional<Path> adapter, int chunk) {
        Path model = model(reference);
        try (Checkpoint expected = Checkpoints.open(reference.resolve("expected.safetensors"));
                var device = new CpuDevice(CpuOptions.all().with(Precision.F32))) {
            return Verification.of(expected).run(model, adapter, device, chunk);
        }
    }
}
