package roselle.backend.reference;

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
import roselle.execution.Verification;

/** The reference computes each supported family as Hugging Face's implementation does. */
class ReferenceModelsTest {
    private static final double TOLERANCE = 5e-4;

    static List<Path> models() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("src/test/resources/tiny-models"))) {
            return files.filter(Files::isDirectory).sorted().toList();
        }
    }

    @ParameterizedTest
    @MethodSource("models")
    void equalsWhatWasRecorded(Path model) {
        try (Checkpoint recorded = Checkpoints.open(model.resolve("expected.safetensors"));
                var device = new ReferenceDevice()) {
            List<Verification.Difference> differences =
                    Verification.of(recorded).run(model, device, 0);
            assertThat(differences).hasSize(3);
            for (Verification.Difference difference : differences) {
                assertThat(difference.largest()).isLessThanOrEqualTo(TOLERANCE);
                assertThat(difference.agreeing()).isEqualTo(16);
            }
        }
    }
}
