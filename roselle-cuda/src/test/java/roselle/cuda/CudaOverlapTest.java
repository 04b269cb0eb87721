package roselle.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import roselle.backend.Device;
import roselle.cuda.driver.NativeDriver;
import roselle.cuda.kernel.CubinCache;
import roselle.engine.Engine;
import roselle.engine.EngineConfig;
import roselle.engine.EngineConfig.BatchOptions;
import roselle.engine.EngineOnDevice;
import roselle.engine.Overlap;
import roselle.tensor.DataType;
import roselle.testing.AheadDevices;
import roselle.testing.MixedRequests;
import roselle.testing.RandomLlama;

/** On a GPU, too, requests are told the same, bit for bit, whether or not steps are launched before tokens are read. */
@Tag("gpu")
class CudaOverlapTest {
    @TempDir
    private Path folder = Path.of("");

    @ParameterizedTest
    @EnumSource(
            value = DataType.class,
            names = {"BF16", "F16", "F32"})
    void stepsLaunchedAheadGiveTheSameBits(DataType type) throws IOException {
        Path model = RandomLlama.write(DataType.Q8_0, folder);
        EngineConfig config = EngineConfig.of(model).with(new BatchOptions(128, 16, 64, 0, 100));
        var stepsAhead = new AtomicInteger();
        List<String> plain = answers(config.with(Overlap.OFF), type, stepsAhead);
        assertThat(stepsAhead.get()).isZero();
        for (int round = 0; round < 5; round++) {
            assertThat(answers(config.with(Overlap.ON), type, stepsAhead)).isEqualTo(plain);
        }
        assertThat(stepsAhead.get()).isGreaterThan(50);
    }

    private static List<String> answers(EngineConfig config, DataType type, AtomicInteger stepsAhead) {
        Device device = new CudaDevice(new NativeDriver(), 0, type, CubinCache.ofUser());
        try (Engine engine = EngineOnDevice.open(config, AheadDevices.counting(device, stepsAhead))) {
            return MixedRequests.answers(engine);
        }
    }
}
