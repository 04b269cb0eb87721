package roselle.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.api.CheckpointException;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.quantization.folder.FolderConversion;
import roselle.quantization.folder.FolderPlan;
import roselle.quantization.folder.FolderType;

/** Folders of all families are read when they were quantized: what products multiply with is, and nothing else. */
class QuantizedFoldersTest {
    private static final Path MODELS = Path.of("../roselle-engine/src/test/resources");

    private static final Set<String> REFUSED = Set.of("gpt2", "deepseek_v4-published");

    @TempDir
    private Path folder;

    static Stream<Path> models() throws IOException {
        try (Stream<Path> tiny = Files.list(MODELS.resolve("tiny-models"));
                Stream<Path> similar = Files.list(MODELS.resolve("similar-models"))) {
            return Stream.concat(tiny, similar).filter(Files::isDirectory).sorted().toList().stream();
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("models")
    void readsWhatBecameOfAFamily(Path model) throws IOException {
        for (FolderType type : List.of(FolderType.FP8, FolderType.FP8_BLOCK)) {
            Path target = folder.resolve(type.name());
            try (Checkpoint checkpoint = Checkpoints.open(model)) {
                if (REFUSED.contains(model.getFileName().toString())) {
                    assertThatThrownBy(() -> FolderPlan.of(checkpoint, type))
                            .isInstanceOf(CheckpointException.class)
                            .hasMessageMatching(".* is quantized already.*|.* store their matrices turned round.*");
                    continue;
                }
                new FolderConversion(FolderPlan.of(checkpoint, type), target, 1).run((index, tensor, isDone) -> {});
            }
            assertThat(AlteredModel.plan(target)).isNotNull();
        }
    }
}
