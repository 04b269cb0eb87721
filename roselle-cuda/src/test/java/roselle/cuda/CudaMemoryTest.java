package roselle.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.api.GenerationRequest;
import roselle.cuda.driver.NativeDriver;
import roselle.cuda.kernel.CubinCache;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.EngineOnDevice;
import roselle.tensor.DataType;
import roselle.testing.MixedRequests;
import roselle.testing.RandomLlama;

/** A closed engine has returned all memory of the GPU, as the driver counts it; nobody else may use the GPU meanwhile. */
@Tag("gpu")
class CudaMemoryTest {
    @TempDir
    private Path folder = Path.of("");

    @Test
    void whatIsFreeBeforeAnEngineOpensIsFreeAfterItClosed() throws IOException {
        var driver = new NativeDriver();
        driver.retainContext(0); // which has memory of its own, as long as somebody holds it
        try {
            for (DataType type : List.of(DataType.BF16, DataType.F32)) {
                Path model = RandomLlama.write(DataType.Q8_0, folder);
                run(model, type); // the driver keeps what it takes for the first kernels of a process
                long before = driver.memory().free();
                run(model, type);
                assertThat(driver.memory().free()).as("free bytes, %s", type).isEqualTo(before);
            }
        } finally {
            driver.releaseContext(0);
        }
    }

    @Test
    void stepsTakeNothingAfterTheFirstOfTheirShape() throws IOException {
        Path model = RandomLlama.write(DataType.Q8_0, folder);
        var driver = new NativeDriver();
        driver.retainContext(0);
        try (Engine engine = open(model, DataType.BF16)) {
            MixedRequests.answers(engine);
            answer(engine);
            long before = driver.memory().free();
            answer(engine);
            assertThat(driver.memory().free()).isEqualTo(before);
        } finally {
            driver.releaseContext(0);
        }
    }

    /** As much as a model's weights is pinned otherwise than a little: by pages of ours. */
    @Test
    void muchOfTheHostIsPinnedCopiedBothWaysAndReturned() {
        long bytes = 300L << 20;
        var driver = new NativeDriver();
        driver.retainContext(0);
        try {
            long stream = driver.createStream(true);
            long address = driver.allocate(bytes);
            MemorySegment there = driver.allocatePinned(bytes);
            MemorySegment back = driver.allocatePinned(bytes);
            for (long at = 0; at < bytes; at += Long.BYTES) {
                there.set(ValueLayout.JAVA_LONG, at, 31 * at + 7);
            }
            driver.copyIn(address, there, bytes, stream);
            driver.copyOut(back, address, bytes, stream);
            driver.synchronize(stream);
            assertThat(back.mismatch(there)).isEqualTo(-1);

            driver.freePinned(there);
            driver.freePinned(back);
            driver.free(address);
            driver.destroyStream(stream);
        } finally {
            driver.releaseContext(0);
        }
    }

    private static void answer(Engine engine) {
        var request = GenerationRequest.builder()
                .tokens(3, 4, 5, 6)
                .maxTokens(40)
                .ignoreEos(true)
                .build();
        for (var _ : engine.submit(request)) {} // to its end
    }

    private static void run(Path model, DataType type) {
        try (Engine engine = open(model, type)) {
            MixedRequests.answers(engine);
        }
    }

    private static Engine open(Path model, DataType type) {
        var config = EngineConfig.of(model).with(new BatchOptions(128, 16, 64, 0, 100));
        var device = new CudaDevice(new NativeDriver(), 0, type, CubinCache.ofUser());
        return EngineOnDevice.open(config, device);
    }
}
