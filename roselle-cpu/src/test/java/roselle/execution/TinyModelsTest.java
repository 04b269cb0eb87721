package roselle.execution;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.cpu.CpuDevice;
import roselle.cpu.option.CpuOptions;
import roselle.cpu.option.CpuPath;
import roselle.cpu.option.Precision;
import roselle.model.architecture.Architectures;
import roselle.model.config.ModelConfig;

/** Each supported family computes what Hugging Face's implementation computed, however the prompt is cut. */
class TinyModelsTest {
    private static final Path RESOURCES = Path.of("../roselle-engine/src/test/resources");
    private static final double TOLERANCE = 5e-4;
    private static final int WHOLE = 0;

    static List<Path> models() throws IOException {
        return in("tiny-models");
    }

    /** Of families that are made of parts which others have. */
    static List<Path> similarModels() throws IOException {
        return in("similar-models");
    }

    private static List<Path> in(String folder) throws IOException {
        try (Stream<Path> files = Files.list(RESOURCES.resolve(folder))) {
            return files.filter(Files::isDirectory).sorted().toList();
        }
    }

    static Stream<Path> allModels() throws IOException {
        return Stream.concat(models().stream(), similarModels().stream());
    }

    @Test
    void coversEachFamily() throws IOException {
        var families = new TreeSet<String>();
        for (Path model :
                Stream.concat(allModels(), in("tiny-encoders").stream()).toList()) {
            try (Checkpoint checkpoint = Checkpoints.open(model)) {
                families.add(new ModelConfig(checkpoint).family());
            }
        }
        assertThat(families).hasSizeGreaterThanOrEqualTo(93);
        assertThat(families).isEqualTo(Architectures.names(Checkpoint.Format.HUGGING_FACE));
    }

    /** Decoders that differ in what paths see of them: products, attention, experts, orders of weights. */
    private static final Set<String> DIVERSE =
            Set.of("cohere", "deepseek_v3", "gemma3", "gemma4_text", "gpt2", "gpt_oss", "llama", "qwen2_moe");

    static Stream<Arguments> diverseModelsOnEachPath() throws IOException {
        return onEachPath(model -> DIVERSE.contains(model.getFileName().toString()));
    }

    static Stream<Arguments> otherModelsOnEachPath() throws IOException {
        return onEachPath(model -> !DIVERSE.contains(model.getFileName().toString()));
    }

    private static Stream<Arguments> onEachPath(Predicate<Path> wanted) throws IOException {
        return allModels()
                .filter(wanted)
                .flatMap(model -> CpuDevice.paths().stream().map(path -> Arguments.of(model, path)));
    }

    @ParameterizedTest
    @MethodSource("models")
    void equalsTheReferenceForWholePromptsChunksAndSingleTokens(Path model) {
        checkChunks(model, CpuOptions.of(1), checkWhole(model, CpuOptions.all()));
    }

    @ParameterizedTest
    @MethodSource("similarModels")
    void similarModelsEqualTheReferenceForWholePrompts(Path model) {
        checkWhole(model, CpuOptions.of(1));
    }

    @ParameterizedTest
    @MethodSource("diverseModelsOnEachPath")
    void diverseModelsEqualTheReferenceOnEachPath(Path model, CpuPath path) {
        check(model, CpuOptions.of(1).with(path));
    }

    @Tag("long")
    @ParameterizedTest
    @MethodSource("otherModelsOnEachPath")
    void otherModelsEqualTheReferenceOnEachPath(Path model, CpuPath path) {
        check(model, CpuOptions.of(1).with(path));
    }

    private static void check(Path model, CpuOptions options) {
        checkChunks(model, options, checkWhole(model, options));
    }

    private static void checkChunks(Path model, CpuOptions options, List<Verification.Difference> whole) {
        assertThat(verify(model, 5, options)).as("the same bits in chunks of 5").isEqualTo(whole);
        assertThat(verify(model, 1, options)).as("the same bits token by token").isEqualTo(whole);
    }

    private static List<Verification.Difference> checkWhole(Path model, CpuOptions options) {
        List<Verification.Difference> whole = verify(model, WHOLE, options);
        assertThat(whole).hasSize(3);
        for (Verification.Difference difference : whole) {
            assertThat(difference.largest()).isLessThanOrEqualTo(TOLERANCE);
            assertThat(difference.agreeing()).isEqualTo(16);
        }
        return whole;
    }

    private static List<Verification.Difference> verify(Path model, int chunk, CpuOptions options) {
        try (Checkpoint reference = Checkpoints.open(model.resolve("expected.safetensors"));
                var backend = new CpuDevice(options.with(Precision.F32))) {
            return Verification.of(reference).run(model, backend, chunk);
        }
    }
}
