package roselle.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import roselle.backend.BackendProvider;
import roselle.backend.Device;
import roselle.backend.DeviceOptions;
import roselle.backend.ModelWeights;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.cpu.CpuDevice;

/** Which device {@code auto} takes. */
class DevicesTest {
    private static final DeviceOptions AUTO = new DeviceOptions("auto", 1);

    /** A kind of device; what it opens stands for one by its number of threads. */
    private record Kind(String kind, Optional<String> unavailable, Optional<String> unusable)
            implements BackendProvider {
        @Override
        public int preference() {
            return kind.equals("cpu") ? 0 : 1;
        }

        @Override
        public List<String> computeTypes() {
            return List.of("auto");
        }

        @Override
        public Device open(int index, DeviceOptions options, ModelWeights weights) {
            return new CpuDevice(kind.equals("cpu") ? 1 : 7);
        }
    }

    private final List<String> warnings = new ArrayList<>();

    private boolean takes(Kind kind) {
        var cpu = new Kind("cpu", Optional.empty(), Optional.empty());
        try (Device device = Devices.automatic(List.of(cpu, kind), AUTO, ModelWeights.UNKNOWN, warnings::add)) {
            return device.describe().contains("7 threads");
        }
    }

    @Test
    void takesADeviceThatIsThere() {
        assertThat(takes(new Kind("toy", Optional.empty(), Optional.empty()))).isTrue();
        assertThat(warnings).isEmpty();
    }

    @Test
    void takesTheCpuWithoutAWordWhereThereIsNoDevice() {
        assertThat(takes(new Kind("toy", Optional.of("no driver"), Optional.of("not asked"))))
                .isFalse();
        assertThat(warnings).isEmpty();
    }

    @Test
    void takesTheCpuAndSaysWhyWhereADeviceCannotBeUsed() {
        assertThat(takes(new Kind("toy", Optional.empty(), Optional.of("its compiler was not found"))))
                .isFalse();
        assertThat(warnings)
                .containsExactly("the device toy is left alone and the CPU taken: its compiler was not found");
    }

    @Test
    void tellsOfTheDeviceThatAutoMeans() {
        assertThat(Devices.describe(AUTO, List.of())).isNotEmpty();
        assertThat(Devices.rounds(AUTO)).isEqualTo(Devices.rounds(new DeviceOptions("cpu", 1)));
    }

    @Test
    void aTinyModelGetsOneThreadUnlessAskedOtherwise() {
        try (Checkpoint tiny = Checkpoints.open(Path.of("../roselle-engine/src/test/resources/tiny-models/llama"))) {
            assertThat(threads(0, tiny)).isEqualTo("cpu, 1 thread");
            assertThat(threads(3, tiny)).isEqualTo("cpu, 3 threads");
        }
    }

    private static String threads(int asked, Checkpoint checkpoint) {
        try (Device device = Devices.open(
                new DeviceOptions("cpu", asked),
                ModelWeights.of(checkpoint.tensors().values()))) {
            String said = device.describe();
            return said.substring(0, said.indexOf(", products"));
        }
    }
}
