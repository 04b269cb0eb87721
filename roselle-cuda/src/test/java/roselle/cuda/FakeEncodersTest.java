package roselle.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.backend.Device;
import roselle.backend.DeviceOptions;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.cuda.FakeDriver.Card;
import roselle.embedding.EmbeddingConfig;
import roselle.embedding.EmbeddingEngine;
import roselle.embedding.EmbeddingOptions;
import roselle.embedding.EncoderOnDevice;
import roselle.embedding.EncoderVerification;
import roselle.model.architecture.Architectures;
import roselle.model.spec.DecoderSpec;
import roselle.tensor.DataType;

/** Encoders on a fake device: each launch is as its kernel and the card want it, and what is taken was planned and is returned. */
class FakeEncodersTest {
    private static final Path MODELS = Path.of("../roselle-engine/src/test/resources/tiny-encoders");
    /** Pieces are multiples of 256 bytes, small ones come from slabs of 2 MiB, and weights and scratch are whole units of 2 MiB. */
    private static final long ROUNDING_BYTES = 7 << 20;

    static List<Path> models() throws IOException {
        try (Stream<Path> files = Files.list(MODELS)) {
            return files.filter(Files::isDirectory)
                    .filter(FakeEncodersTest::hasKernels)
                    .sorted()
                    .toList();
        }
    }

    private static boolean hasKernels(Path model) {
        try (Checkpoint checkpoint = Checkpoints.open(model)) {
            DecoderSpec spec = Architectures.readAny(checkpoint).spec();
            return spec.special().isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("models")
    void everyLaunchKeepsTheRulesAndAllMemoryIsReturned(Path model) {
        for (Card card : List.of(Card.AMPERE, Card.ADA, Card.HOPPER)) {
            for (DataType type : List.of(DataType.BF16, DataType.F16, DataType.F32)) {
                var driver = new FakeDriver(card);
                try (Checkpoint reference = Checkpoints.open(model.resolve("expected.safetensors"));
                        Device device = driver.open(type)) {
                    var verification = EncoderVerification.of(reference);
                    assertThat(verification.run(model, device, true)).hasSize(3);
                    assertThat(verification.run(model, device, false)).hasSize(3);
                }
                assertThat(driver.leaks()).isEmpty();
                assertThat(driver.takeLaunches()).isNotEmpty();
            }
        }
    }

    @Test
    void stepsOfAnyTasksTakeNoMoreThanWasPlanned() {
        var config = config(MODELS.resolve("jina-v3-tasks"));
        for (DataType type : List.of(DataType.BF16, DataType.F32)) {
            var driver = new FakeDriver(Card.HOPPER);
            try (EmbeddingEngine engine = EncoderOnDevice.open(config, driver.open(type))) {
                assertThat(engine.tasks()).hasSize(5);
                for (String task : engine.tasks()) {
                    assertThat(engine.embed(List.of("a story"), EmbeddingOptions.DEFAULT.withTask(task))
                                    .vectors())
                            .hasSize(1);
                }
                assertThat(driver.deviceMemory().usedBytes()).isLessThan(engine.totalBytes() + ROUNDING_BYTES);
            }
            assertThat(driver.leaks()).isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("models")
    void whatIsPlannedIsTakenAndNothingMoreBySteps(Path model) {
        for (DataType type : List.of(DataType.BF16, DataType.F32)) {
            for (Card card : List.of(Card.AMPERE, Card.HOPPER)) {
                var driver = new FakeDriver(card);
                try (EmbeddingEngine engine = EncoderOnDevice.open(config(model), driver.open(type))) {
                    long taken = driver.deviceMemory().usedBytes();
                    assertThat(taken)
                            .as("%s on %s", type, card.name())
                            .isBetween(engine.totalBytes(), engine.totalBytes() + ROUNDING_BYTES);
                    var texts = List.of(new int[100], new int[] {1}, new int[] {2, 3});
                    assertThat(engine.embedIds(texts, EmbeddingOptions.DEFAULT.withSparse(!engine.givesDense()))
                                    .vectors())
                            .hasSize(3);
                    assertThat(driver.deviceMemory().usedBytes()).isEqualTo(taken);
                }
                assertThat(driver.leaks()).isEmpty();
            }
        }
    }

    private static EmbeddingConfig config(Path model) {
        return new EmbeddingConfig(model, DeviceOptions.DEFAULT, 100, 2048, 64, 100);
    }
}
