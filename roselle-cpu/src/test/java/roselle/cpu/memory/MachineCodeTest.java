package roselle.cpu.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import roselle.api.DeviceException;
import roselle.cpu.CpuDevice;
import roselle.cpu.machine.Processor;
import roselle.cpu.machine.Processor.Feature;
import roselle.cpu.machine.Refusals;
import roselle.cpu.option.CpuOptions;
import roselle.cpu.option.CpuPath;
import roselle.cpu.option.Precision;
import roselle.tensor.DataType;

/** Which path is chosen, what is refused, and what is said of it. */
class MachineCodeTest {
    private static final CpuOptions OPTIONS = CpuOptions.of(1);
    private static final String REFUSED = "the system refuses executable memory";

    private static void assume(CpuPath path) {
        assumeTrue(CpuDevice.paths().contains(path), "the processor lacks " + path.label());
    }

    @Test
    void theVectorApiWorksWhereTheSystemRefusesExecutableMemory() throws Exception {
        assume(CpuPath.AVX2);
        String said = Refusals.ofExecutableMemory(0, () -> CpuDevice.describe(OPTIONS, List.of(DataType.Q8_0)));
        assertThat(said).isEqualTo("vector (" + REFUSED + "): q8_0 in float32");
        assertThat(Refusals.ofExecutableMemory(0, CpuDevice::paths)).containsExactly(CpuPath.VECTOR);
    }

    /** The probe's code fits a page, kernels do not. */
    @Test
    void theVectorApiWorksWhereTheSystemRefusesTheKernelsAlone() throws Exception {
        assume(CpuPath.AVX2);
        String said = Refusals.ofExecutableMemory(4096, () -> {
            assertThat(CpuDevice.paths()).contains(CpuPath.AVX2);
            try (var backend = new CpuDevice(OPTIONS)) {
                return backend.describe();
            }
        });
        assertThat(said).isEqualTo("cpu, 1 thread, products: vector, float32 (" + REFUSED + ")");
    }

    @ParameterizedTest
    @EnumSource(names = {"AVX2", "AVX512", "VNNI", "BF16", "AMX"})
    void aPathThatIsAskedForIsNeverReplacedByAnother(CpuPath path) {
        assume(path);
        for (int allowed : new int[] {0, 4096}) {
            assertThatThrownBy(() -> Refusals.ofExecutableMemory(allowed, () -> CpuDevice.describe(OPTIONS.with(path))))
                    .isInstanceOf(DeviceException.class)
                    .hasMessage("the path " + path.label() + " with compute auto is not to be had here: " + REFUSED);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"VECTOR", "AVX2", "AVX512"})
    void bfloat16IsRefusedWhereAPathMultipliesFloat32Alone(CpuPath path) {
        assertThatThrownBy(() -> CpuDevice.describe(OPTIONS.with(path).with(Precision.BF16)))
                .isInstanceOf(DeviceException.class)
                .hasMessageContaining("compute bf16");
    }

    @ParameterizedTest
    @EnumSource(names = {"VECTOR", "AVX512", "BF16", "AMX"})
    void bytesAreRefusedWhereAPathDoesNotMultiplyThem(CpuPath path) {
        assertThatThrownBy(() -> CpuDevice.describe(OPTIONS.with(path).with(Precision.INT8)))
                .isInstanceOf(DeviceException.class)
                .hasMessage("compute int8 is not to be had on the path " + path.label()
                        + ": ask for the path vnni or avx2, or for none");
    }

    @ParameterizedTest
    @EnumSource(names = {"AUTO", "AVX2"})
    void bytesAreMultipliedWhereTheyAreAskedFor(CpuPath path) {
        assume(CpuPath.AVX2);
        boolean isWide = path == CpuPath.AUTO && CpuDevice.paths().contains(CpuPath.VNNI);
        String said = CpuDevice.describe(
                OPTIONS.with(path).with(Precision.INT8), List.of(DataType.Q4_0, DataType.F16, DataType.Q6_K));
        assertThat(said)
                .startsWith(isWide ? "vnni (" : "avx2 (")
                .contains("): q4_0 with activations of 8 bits, f16 in float32, q6_k in ");
    }

    @Test
    void whatWasChosenSaysWhy() {
        assume(CpuPath.AVX2);
        try (var code = MachineCode.open(OPTIONS.with(CpuPath.AVX2), "measured")) {
            assertThat(code.describe()).isEqualTo("avx2, float32 (measured)");
        }
    }

    @Test
    void theVectorApiWorksWhereWhatWasChosenIsRefused() throws Exception {
        assume(CpuPath.AVX2);
        String said = Refusals.ofExecutableMemory(4096, () -> {
            try (var code = MachineCode.open(OPTIONS.with(CpuPath.AVX2), "measured")) {
                return code.describe();
            }
        });
        assertThat(said).isEqualTo("vector, float32 (" + REFUSED + ")");
    }

    @Test
    void whatIsLackingIsNamedWithWhatThereIs() {
        assertThat(MachineCode.obstacle(new Processor(Set.of(), ""), Feature.AVX2))
                .isEqualTo("the processor has no AVX2, or the system keeps it back");
        assertThat(MachineCode.obstacle(new Processor(Set.of(Feature.AVX2, Feature.AVX512), ""), Feature.AMX))
                .isEqualTo("the processor has no AMX, or the system keeps it back; there is only avx2, avx512");
        assertThat(MachineCode.obstacle(new Processor(Set.of(), "no luck"), Feature.AMX))
                .isEqualTo("no luck");
    }
}
