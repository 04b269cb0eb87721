package roselle.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.api.GenerationEvent;
import roselle.api.GenerationRequest;
import roselle.cuda.FakeDriver.Card;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.EngineOnDevice;
import roselle.engine.Generation;
import roselle.tensor.DataType;

/** Engines on a fake device: each launch is as its kernel and the card want it, and all that was taken is returned. */
class FakeDeviceTest {
    private static final Path MODELS = Path.of("../roselle-engine/src/test/resources/tiny-models");

    static List<Path> models() throws IOException {
        try (Stream<Path> folders = Files.list(MODELS)) {
            return folders.filter(Files::isDirectory).sorted().toList();
        }
    }

    static EngineConfig config(Path model) {
        return EngineConfig.of(model).with(new BatchOptions(256, 8, 128, 0, 64));
    }

    static GenerationRequest request(int promptTokens, int maxTokens) {
        var ids = new int[promptTokens];
        for (int i = 0; i < promptTokens; i++) {
            ids[i] = 3 + i % 17;
        }
        return GenerationRequest.builder()
                .tokens(ids)
                .maxTokens(maxTokens)
                .ignoreEos(true)
                .build();
    }

    /** Runs some requests to their ends at the same time: long prompts, short ones, some drawn by the device. */
    static void generate(Engine engine) {
        var generations = new ArrayList<Generation>();
        for (int i = 0; i < 6; i++) {
            generations.add(engine.submit(request(1 + 23 * i, 4 + i)));
        }
        for (Generation generation : generations) {
            GenerationEvent last = null;
            for (GenerationEvent event : generation) {
                last = event;
            }
            assertThat(last).isInstanceOf(GenerationEvent.Finished.class);
        }
    }

    @ParameterizedTest
    @MethodSource("models")
    void everyLaunchKeepsTheRulesAndAllMemoryIsReturned(Path model) {
        for (Card card : List.of(Card.AMPERE, Card.ADA, Card.HOPPER)) {
            for (DataType type : List.of(DataType.BF16, DataType.F16, DataType.F32)) {
                var driver = new FakeDriver(card);
                try (Engine engine = EngineOnDevice.open(config(model), driver.open(type))) {
                    generate(engine);
                }
                assertThat(driver.leaks()).isEmpty();
                assertThat(driver.takeLaunches()).isNotEmpty();
            }
        }
    }
}
