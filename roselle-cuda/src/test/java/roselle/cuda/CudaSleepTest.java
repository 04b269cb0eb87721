package roselle.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.cuda.driver.NativeDriver;
import roselle.cuda.kernel.CubinCache;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.EngineConfig.CacheOptions;
import roselle.engine.EngineOnDevice;
import roselle.tensor.DataType;
import roselle.testing.MixedRequests;
import roselle.testing.RandomLlama;

/** Memory of a GPU goes from a model to others and comes back, by the driver's count, and answers keep their bits. */
@Tag("gpu")
class CudaSleepTest {
    private static final long CACHE = 64 << 20;

    /** Steps of new shapes are recorded at any time, in memory of the driver's. */
    private static final long GRAPHS = 8 << 20;

    @TempDir
    private Path folder = Path.of("");

    private static void await(CompletableFuture<Void> done)
            throws ExecutionException, InterruptedException, TimeoutException {
        done.get(60, TimeUnit.SECONDS);
    }

    @Test
    void pagesAndWeightsGoAndComeBackWithTheSameBits() throws Exception {
        Path model = RandomLlama.writeWide(DataType.BF16, folder);
        var driver = new NativeDriver();
        driver.retainContext(0);
        try (Engine engine = open(model)) {
            List<String> expected = MixedRequests.answers(engine);
            assertThat(MixedRequests.answers(engine)).isEqualTo(expected);
            long all = driver.memory().free();
            for (int turn = 0; turn < 3; turn++) {
                await(engine.cache().resize(0));
                long shrunk = driver.memory().free();
                assertThat(shrunk - all)
                        .as("bytes of pages")
                        .isGreaterThan(engine.plan().kvBytes() * 3 / 4);
                assertThat(MixedRequests.answers(engine)).isEqualTo(expected);
                await(engine.cache().sleep());
                assertThat(driver.memory().free())
                        .as("free bytes while it sleeps")
                        .isGreaterThan(shrunk);
                try (Engine other = open(model)) {
                    assertThat(MixedRequests.answers(other)).isEqualTo(expected);
                }
                var _ = engine.cache().resize(CACHE);
                await(engine.cache().wake());
                assertThat(MixedRequests.answers(engine)).as("turn %d", turn).isEqualTo(expected);
                assertThat(driver.memory().free()).isBetween(all - GRAPHS, all + GRAPHS);
            }
        } finally {
            driver.releaseContext(0);
        }
    }

    private static Engine open(Path model) throws IOException {
        var config = EngineConfig.of(model)
                .with(new BatchOptions(512, 64, 64, 0, 100))
                .with(new CacheOptions("auto", CACHE, 16, false));
        var device = new CudaDevice(new NativeDriver(), 0, DataType.BF16, CubinCache.ofUser());
        return EngineOnDevice.open(config, device);
    }
}
