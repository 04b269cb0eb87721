package roselle.cuda.nvml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import roselle.api.DeviceException;
import roselle.cuda.driver.NativeLibrary;

/** The binding calls functions that a C compiler made of NVML's declarations. */
class NvmlTest {
    private static final Path STUB = Path.of("target/nvml/libnvidia-ml.so.1");

    /** Compiles the stub; where there is no compiler, the tests are skipped, or fail where CI says that nothing may be missing. */
    @BeforeAll
    static void compile() throws IOException, InterruptedException {
        Files.createDirectories(STUB.getParent());
        String trouble;
        try {
            Process compiler = new ProcessBuilder(
                            "gcc",
                            "-shared",
                            "-fPIC",
                            "-nostdlib",
                            "-Wall",
                            "-Werror",
                            "-O1",
                            "-o",
                            STUB.toString(),
                            "src/test/c/nvml_stub.c")
                    .redirectErrorStream(true)
                    .start();
            trouble = new String(compiler.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (compiler.waitFor() == 0) {
                return;
            }
            fail(trouble);
        } catch (IOException noCompiler) {
            trouble = "there is no gcc";
        }
        if ("1".equals(System.getenv("ROSELLE_ALL_TEST_PROGRAMS"))) {
            fail(trouble);
        }
        Assumptions.abort(trouble);
    }

    private static Nvml stub() {
        return new Nvml(NativeLibrary.of(STUB.toAbsolutePath()));
    }

    @Test
    void readsWhatTheLibraryTells() {
        try (Nvml nvml = stub()) {
            assertThat(nvml.driverVersion()).isEqualTo("580.65.06");
            assertThat(nvml.deviceCount()).isEqualTo(2);
            long first = nvml.device(0);
            assertThat(nvml.deviceName(first)).isEqualTo("Stub H200");
            long before = nvml.totalEnergyMillijoules(first).orElseThrow();
            assertThat(before).isGreaterThan(5_000_000_000L);
            assertThat(nvml.totalEnergyMillijoules(first)).hasValue(before + 250_000);
            assertThat(nvml.powerMilliwatts(first)).hasValue(670_000);
            assertThat(nvml.memory(first)).isEqualTo(new Nvml.Memory(150_754_820_096L, 754_820_096L));
            assertThat(nvml.utilizationPercent(first)).hasValue(97);
        }
    }

    @Test
    void leavesOutWhatADeviceDoesNotTell() {
        try (Nvml nvml = stub()) {
            long second = nvml.device(1);
            assertThat(nvml.deviceName(second)).isEqualTo("Stub T4");
            assertThat(nvml.totalEnergyMillijoules(second)).isEmpty();
            assertThat(nvml.utilizationPercent(second)).isEmpty();
            assertThat(nvml.powerMilliwatts(second)).hasValue(70_000);
        }
    }

    @Test
    void namesTheFunctionAndTheErrorThatItFailedWith() {
        try (Nvml nvml = stub()) {
            assertThatThrownBy(() -> nvml.device(2))
                    .isInstanceOf(DeviceException.class)
                    .hasMessage("NVML's nvmlDeviceGetHandleByIndex failed with 2 (Invalid Argument)");
            assertThatThrownBy(() -> nvml.powerMilliwatts(7))
                    .hasMessage("NVML's nvmlDeviceGetPowerUsage failed with 999 (Unknown Error)");
        }
    }
}
