package roselle.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.api.CapacityException;
import roselle.cuda.FakeDriver.Card;
import roselle.cuda.FakeDriver.Fault;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.EngineConfig.CacheOptions;
import roselle.engine.EngineOnDevice;
import roselle.tensor.DataType;
import roselle.testing.RandomLlama;

/** Memory of a fake card goes from one model to others and comes back; what was recorded of steps stays. */
class FakeSleepTest {
    private static final long CACHE = 64 << 20;
    private static final long SLABS = 12 << 20;

    @TempDir
    private static Path folder = Path.of("");

    private static Path model = Path.of("");

    private final FakeDriver driver = new FakeDriver(Card.HOPPER.withBytes(200 << 20));

    @BeforeAll
    static void writeModel() throws IOException {
        model = RandomLlama.writeWide(DataType.BF16, folder);
    }

    private Engine open() {
        return open(64);
    }

    private Engine open(int answers) {
        var config = EngineConfig.of(model)
                .with(new BatchOptions(512, answers, Math.max(64, answers), 0, 100))
                .with(new CacheOptions("auto", CACHE, 16, false))
                .withAdapterMemory(0);
        return EngineOnDevice.open(config, driver.open(DataType.BF16));
    }

    private static void await(CompletableFuture<Void> done)
            throws ExecutionException, InterruptedException, TimeoutException {
        done.get(60, TimeUnit.SECONDS);
    }

    private static void answer(Engine engine) {
        for (var _ : engine.submit(FakeDeviceTest.request(20, 12))) {} // to its end
    }

    private long used() {
        return driver.deviceMemory().usedBytes();
    }

    @Test
    void pagesAndWeightsGoAndComeBackAndGraphsStay() throws Exception {
        try (Engine engine = open()) {
            answer(engine);
            answer(engine);
            answer(engine);
            long all = used();
            int recorded = driver.count("cuStreamEndCapture");
            assertThat(recorded).isPositive();

            await(engine.cache().resize(0));
            long shrunk = used();
            assertThat(all - shrunk).isGreaterThan(engine.plan().kvBytes() * 3 / 4);
            answer(engine);
            await(engine.cache().resize(CACHE));
            assertThat(used()).isEqualTo(all);

            await(engine.cache().sleep());
            assertThat(used()).isLessThan(SLABS);
            await(engine.cache().wake());
            assertThat(used()).isEqualTo(all);
            answer(engine);
            assertThat(driver.count("cuStreamEndCapture")).isEqualTo(recorded);
            assertThat(driver.count("cuGraphExecDestroy")).isZero();

            int copied = driver.count("cuMemcpyDtoHAsync");
            await(engine.cache().sleep());
            assertThat(driver.count("cuMemcpyDtoHAsync"))
                    .as("weights are copied once")
                    .isLessThan(copied + 4);
        }
        assertThat(driver.leaks()).isEmpty();
    }

    @Test
    void whatHasNoRoomToWakeSleepsOn() throws Exception {
        try (Engine first = open()) {
            await(first.cache().sleep());
            try (Engine second = open()) {
                assertThatThrownBy(() -> await(first.cache().wake()))
                        .hasCauseInstanceOf(CapacityException.class)
                        .hasMessageContaining("free");
                assertThat(first.cache().isAsleep()).isTrue();
                assertThatThrownBy(() -> answer(first)).isInstanceOf(CapacityException.class);
                answer(second);
            }
            await(first.cache().wake());
            answer(first);
        }
        assertThat(driver.leaks()).isEmpty();
    }

    @Test
    void pagesThatOthersHaveComeBackLater() throws Exception {
        try (Engine engine = open()) {
            long all = used();
            await(engine.cache().resize(0));
            driver.failAfter("cuMemCreate", 0, Fault.OUT_OF_MEMORY);
            assertThatThrownBy(() -> await(engine.cache().resize(CACHE))).isInstanceOf(ExecutionException.class);
            answer(engine);
            await(engine.cache().resize(CACHE));
            assertThat(used()).isEqualTo(all);
            answer(engine);
        }
        assertThat(driver.leaks()).isEmpty();
    }

    /** They have numbers for each token of the vocabulary, and lists, for each answer at a time. */
    @Test
    void tablesOfTheSamplerGoToo() throws Exception {
        try (Engine many = open(1024)) {
            answer(many);
            await(many.cache().sleep());
            assertThat(used()).isLessThan(SLABS);
            await(many.cache().wake());
            answer(many);
        }
        assertThat(driver.leaks()).isEmpty();
    }
}
