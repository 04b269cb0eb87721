package roselle.execution;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.checkpoint.Checkpoint;
import roselle.cpu.CpuDevice;
import roselle.cpu.option.CpuOptions;
import roselle.cpu.option.CpuPath;
import roselle.cpu.option.Precision;

/** Each supported family computes what Hugging Face's implementation computed, however the prompt is cut. */
class TinyModelsTest {
    private static final Path MODELS = Path.of("../roselle-engine/src/test/resources/tiny-models");
    private static final double TOLERANCE = 5e-4;
    private static final int WHOLE = 0;

    static List<Path> models() throws IOException {
        try (Stream<Path> files = Files.list(MODELS)) {
            return files.filter(Files::isDirectory).sorted().toList();
        }
    }

    @Test
    void coversTwentyFourCheckpoints() throws IOException {
        assertThat(models()).hasSize(24);
    }

    /** Each model on the path that is chosen by itself and on each other that the processor offers. */
    static Stream<Arguments> modelsOnPaths() throws IOException {
        var paths = new ArrayList<>(CpuDevice.paths());
        paths.addFirst(CpuPath.AUTO);
        return models().stream().flatMap(model -> paths.stream().map(path -> Arguments.of(model, path)));
    }

    @ParameterizedTest
    @MethodSource("modelsOnPaths")
    void equalsTheReferenceForWholePromptsChunksAndSingleTokens(Path model, CpuPath path) {
        List<Verification.Difference> whole = verify(model, WHOLE, path);
        assertThat(whole).hasSize(3);
        for (Verification.Difference difference : whole) {
            assertThat(difference.largest()).isLessThanOrEqualTo(TOLERANCE);
            assertThat(difference.agreeing()).isEqualTo(16);
        }
        assertThat(verify(model, 5, path)).as("the same bits in chunks of 5").isEqualTo(whole);
        assertThat(verify(model, 1, path)).as("the same bits token by token").isEqualTo(whole);
    }

    private static List<Verification.Difference> verify(Path model, int chunk, CpuPath path) {
        try (Checkpoint reference = Checkpoint.open(model.resolve("expected.safetensors"));
                var backend = new CpuDevice(CpuOptions.all().with(Precision.F32).with(path))) {
            return Verification.of(reference).run(model, backend, chunk);
        }
    }
}
