package roselle.execution;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.cpu.CpuDevice;
import roselle.cpu.option.CpuOptions;
import roselle.cpu.option.Precision;

/**
 * Families compute what Hugging Face's implementation computed in configurations that the tiny models leave out: scaled
 * rotations, norms of heads, windows, other head sizes, tied and untied outputs, packed experts.
 *
 * <p>The checkpoints and what they should give are made by {@code tools/models/make_variants.py}.
 */
class VariantModelsTest {
    private static final Path MODELS = Path.of("../roselle-engine/src/test/resources/variant-models");
    private static final double TOLERANCE = 5e-4;
    private static final int WHOLE = 0;

    static List<Path> models() throws IOException {
        try (Stream<Path> files = Files.list(MODELS)) {
            return files.filter(Files::isDirectory).sorted().toList();
        }
    }

    @ParameterizedTest
    @MethodSource("models")
    void equalsTheReferenceForWholePromptsChunksAndSingleTokens(Path model) {
        List<Verification.Difference> whole = verify(model, WHOLE, CpuOptions.all());
        assertThat(whole).hasSize(2);
        for (Verification.Difference difference : whole) {
            assertThat(difference.largest()).isLessThanOrEqualTo(TOLERANCE);
            assertThat(difference.agreeing()).isEqualTo(8);
        }
        assertThat(verify(model, 7, CpuOptions.of(1)))
                .as("the same bits in chunks of 7")
                .isEqualTo(whole);
        assertThat(verify(model, 1, CpuOptions.of(1)))
                .as("the same bits token by token")
                .isEqualTo(whole);
    }

    private static List<Verification.Difference> verify(Path model, int chunk, CpuOptions options) {
        try (Checkpoint reference = Checkpoints.open(model.resolve("expected.safetensors"));
                var backend = new CpuDevice(options.with(Precision.F32))) {
            return Verification.of(reference).run(model, backend, chunk);
        }
    }
}
