package roselle.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import roselle.api.GenerationEvent.TokenGenerated;
import roselle.api.GenerationRequest;
import roselle.backend.DeviceOptions;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.quantization.folder.FolderConversion;
import roselle.quantization.folder.FolderPlan;
import roselle.quantization.folder.FolderType;
import roselle.quantization.folder.RandomFolder;
import roselle.tensor.DataType;

/** An engine answers from a quantized folder. */
class QuantizedFolderAnswersTest {
    private static final int TOKENS = 12;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource
    void answers(FolderType type) throws IOException {
        Path source = folder.resolve("source");
        Path target = folder.resolve("target");
        RandomFolder.write(source, DataType.BF16);
        try (Checkpoint model = Checkpoints.open(source)) {
            new FolderConversion(FolderPlan.of(model, type), target, 2).run((index, tensor, isDone) -> {});
        }
        try (Engine engine = Engine.open(TestConfig.of(target).with(new DeviceOptions("cpu", 2)));
                Generation generation = engine.submit(GenerationRequest.builder()
                        .tokens(5, 6, 7, 8, 9)
                        .temperature(0)
                        .ignoreEos(true)
                        .maxTokens(TOKENS)
                        .build())) {
            int count = 0;
            for (var event : generation) {
                count += event instanceof TokenGenerated ? 1 : 0;
            }
            assertThat(count).isEqualTo(TOKENS);
        }
    }
}
