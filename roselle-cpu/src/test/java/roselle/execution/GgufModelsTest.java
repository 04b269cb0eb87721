package roselle.execution;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.cpu.CpuDevice;
import roselle.cpu.option.CpuOptions;
import roselle.cpu.option.CpuPath;
import roselle.cpu.option.Precision;
import roselle.quantization.recipe.Conversion;
import roselle.quantization.recipe.ConversionPlan;
import roselle.quantization.recipe.Mix;
import roselle.quantization.recipe.Recipe;
import roselle.tensor.DataType;

/**
 * The tiny models as GGUF give the logits that they give as safetensors.
 *
 * <p>SmolLM 3 is not among them: GGUF has no key for which layers have no positions.
 */
class GgufModelsTest {
    private static final Path RESOURCES = Path.of("../roselle-engine/src/test/resources");
    private static final Path MODELS = RESOURCES.resolve("tiny-models");

    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource(
            value = CpuPath.class,
            names = {"VECTOR", "AUTO"})
    void microscaledExpertsFromGgufGiveTheBitsOfThoseFromSafetensors(CpuPath path) throws IOException {
        Path model = Path.of("../roselle-engine/src/test/resources/variant-models/gpt-oss-mxfp4");
        Path file = folder.resolve("model.gguf");
        try (Checkpoint checkpoint = Checkpoints.open(model)) {
            Files.write(file, GgufModel.of(checkpoint));
        }
        try (Checkpoint reference = Checkpoints.open(model.resolve("expected.safetensors"));
                Checkpoint written = Checkpoints.open(file);
                var backend = new CpuDevice(CpuOptions.all().with(Precision.F32).with(path))) {
            assertThat(written.tensor("blk.1.ffn_up_exps.weight").type()).isEqualTo(DataType.MXFP4);
            var verification = Verification.of(reference);
            assertThat(verification.run(file, backend, 0))
                    .isEqualTo(verification.run(model, backend, 0))
                    .hasSize(2)
                    .allSatisfy(difference -> {
                        assertThat(difference.largest()).isLessThanOrEqualTo(5e-4);
                        assertThat(difference.agreeing()).isEqualTo(8);
                    });
        }
    }

    /** The tiny models that {@link GgufModel} writes. */
    static final List<String> WRITTEN = List.of(
            "cohere",
            "deepseek_v3",
            "gemma",
            "gemma2",
            "gemma3",
            "glm4",
            "gpt2",
            "gpt_neox",
            "gpt_oss",
            "granite",
            "llama",
            "llama-bias-headdim",
            "mistral",
            "mixtral",
            "olmo2",
            "phi",
            "phi3",
            "qwen2",
            "qwen2_moe",
            "qwen3",
            "qwen3_moe",
            "stablelm",
            "starcoder2");

    static List<String> written() {
        return WRITTEN;
    }

    @ParameterizedTest
    @MethodSource("written")
    void equalsTheReferenceFromGguf(String name) throws IOException {
        Path file = folder.resolve("model.gguf");
        try (Checkpoint checkpoint = Checkpoints.open(MODELS.resolve(name))) {
            Files.write(file, GgufModel.of(checkpoint));
        }
        try (Checkpoint reference = Checkpoints.open(MODELS.resolve(name + "/expected.safetensors"));
                var backend = new CpuDevice(CpuOptions.all().with(Precision.F32))) {
            assertThat(Verification.of(reference).run(file, backend, 0))
                    .hasSize(3)
                    .allSatisfy(difference -> {
                        assertThat(difference.largest()).isLessThanOrEqualTo(5e-4);
                        assertThat(difference.agreeing()).isEqualTo(16);
                    });
        }
    }

    /** What {@code roselle quantize} makes of a folder; Gemma 2 and 3 of such sizes scale scores as no GGUF can say. */
    @ParameterizedTest
    @ValueSource(strings = {"llama", "llama-bias-headdim", "mistral", "qwen2", "qwen3", "gemma", "phi", "phi3"})
    void writtenModelsEqualTheReference(String name) throws IOException {
        Path file = folder.resolve("model.gguf");
        try (Checkpoint checkpoint = Checkpoints.open(MODELS.resolve(name))) {
            var plan = ConversionPlan.of(checkpoint, new Recipe(Mix.BF16, List.of(), false, false), null);
            new Conversion(plan, file, 1).run((index, tensor, isDone) -> {});
        }
        checkConverted(file, MODELS.resolve(name));
    }

    /** Files that llama.cpp's own converter wrote: it puts heads in another order and stores what it derived. */
    @ParameterizedTest
    @ValueSource(
            strings = {"qwen3_5", "qwen3_5_moe", "qwen3_next", "lfm2", "deepseek_v32", "deepseek_v4", "gemma3n_text"})
    void convertedModelsWithStatesEqualTheReference(String name) {
        checkConverted(RESOURCES.resolve("state-gguf/" + name + ".gguf"), MODELS.resolve(name));
    }

    static List<Path> similarModels() throws IOException {
        try (Stream<Path> files = Files.list(RESOURCES.resolve("similar-gguf"))) {
            return files.sorted().toList();
        }
    }

    @ParameterizedTest
    @MethodSource("similarModels")
    void convertedSimilarModelsEqualTheReference(Path file) {
        String name = file.getFileName().toString().replace(".gguf", "");
        checkConverted(file, RESOURCES.resolve("similar-models").resolve(name));
    }

    private static void checkConverted(Path file, Path model) {
        try (Checkpoint reference = Checkpoints.open(model.resolve("expected.safetensors"));
                var backend = new CpuDevice(CpuOptions.of(1).with(Precision.F32))) {
            assertThat(Verification.of(reference).run(file, backend, 0))
                    .hasSize(3)
                    .allSatisfy(difference -> {
                        assertThat(difference.largest()).isLessThanOrEqualTo(5e-4);
                        assertThat(difference.agreeing()).isEqualTo(16);
                    });
        }
    }
}
