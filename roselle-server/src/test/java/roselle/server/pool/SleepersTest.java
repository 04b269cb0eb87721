package roselle.server.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.api.GenerationRequest;
import roselle.cuda.FakeDriver;
import roselle.cuda.FakeDriver.Card;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.HookedEngine;
import roselle.hub.BundledModel;
import roselle.server.config.ServedModel;
import roselle.tensor.DataType;

/** Models of a fake GPU that wait in the machine's memory. */
class SleepersTest {
    @TempDir
    private Path folder = Path.of("");

    private final FakeDriver driver = new FakeDriver(Card.HOPPER);
    private Path file = Path.of("");

    @BeforeEach
    void writeModel() throws IOException {
        file = BundledModel.DEMO.unpackInto(folder);
    }

    private ServedModel model(String name) {
        var config =
                EngineConfig.of(file).with(new BatchOptions(64, 4, 32, 0, 16)).withAdapterMemory(0);
        return new ServedModel(name, HookedEngine.open(config, driver.open(DataType.BF16)));
    }

    private ServedSource source(String name, Sleepers sleepers) {
        return new ServedSource(name, EngineConfig.of(file), 0, Instant.EPOCH, sleepers, Map.of());
    }

    private static long bytes(ServedModel model) {
        return model.engine().plan().totalBytes() - model.engine().plan().kvBytes();
    }

    private static boolean answers(Engine engine) {
        var request = GenerationRequest.builder().tokens(3, 4, 5).maxTokens(3).build();
        try (var generation = engine.submit(request)) {
            return !generation.text().equals("impossible");
        }
    }

    @Test
    void whatSleepsComesBackAsTheSameEngine() {
        ServedModel model = model("one");
        try (var sleepers = new Sleepers(bytes(model))) {
            ServedSource owner = source("one", sleepers);
            assertThat(sleepers.take("one", owner, model, file)).isTrue();
            assertThat(model.engine().cache().isAsleep()).isTrue();
            assertThat(owner.hostBytes()).isEqualTo(bytes(model)).isEqualTo(sleepers.bytes());
            assertThat(source("one", sleepers).hostBytes())
                    .as("of another source")
                    .isZero();
            assertThat(sleepers.has("one", owner)).isTrue();
            assertThat(sleepers.wake("one", owner, _ -> {})).contains(model);
            assertThat(answers(model.engine())).isTrue();
            assertThat(sleepers.has("one", owner)).isFalse();
            assertThat(owner.hostBytes()).isZero();
            assertThat(sleepers.bytes()).isZero();
            model.engine().close();
        }
        assertThat(driver.leaks()).isEmpty();
    }

    @Test
    void theOneThatHasSleptLongestMakesRoom() {
        ServedModel first = model("first");
        ServedModel second = model("second");
        try (var sleepers = new Sleepers(bytes(first))) {
            ServedSource ofFirst = source("first", sleepers);
            ServedSource ofSecond = source("second", sleepers);
            assertThat(sleepers.take("first", ofFirst, first, file)).isTrue();
            assertThat(sleepers.take("second", ofSecond, second, file)).isTrue();
            assertThat(sleepers.has("first", ofFirst)).isFalse();
            assertThat(first.engine().status().isAlive()).isFalse();
            assertThat(sleepers.has("second", ofSecond)).isTrue();
        }
        assertThat(driver.leaks()).as("closed with the sleepers").isEmpty();
    }

    @Test
    void whatHasNoRoomStaysAwake() {
        ServedModel model = model("one");
        try (var sleepers = new Sleepers(bytes(model) - 1)) {
            assertThat(sleepers.take("one", source("one", sleepers), model, file))
                    .isFalse();
            assertThat(answers(model.engine())).isTrue();
            model.engine().close();
        }
    }

    @Test
    void filesThatHaveChangedAreReadAgain() throws IOException {
        ServedModel model = model("one");
        try (var sleepers = new Sleepers(bytes(model))) {
            ServedSource owner = source("one", sleepers);
            assertThat(sleepers.take("one", owner, model, file)).isTrue();
            Files.setLastModifiedTime(file, FileTime.fromMillis(1));
            assertThat(sleepers.wake("one", owner, _ -> {})).isEmpty();
            assertThat(model.engine().status().isAlive()).isFalse();
        }
        assertThat(driver.leaks()).isEmpty();
    }
}
