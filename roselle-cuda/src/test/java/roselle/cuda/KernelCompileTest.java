package roselle.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.cuda.nvrtc.Compiler;

/** Every kernel compiles for every architecture that we name, without a warning and without spilling registers. */
@Tag("long")
class KernelCompileTest {
    private static final List<String> ARCHITECTURES = List.of("sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120");
    private static final Path INSTALLER = Path.of("../tools/nvrtc.sh");

    /** Installs the compiler; where that cannot be, the test is skipped, or fails where CI says that nothing may be missing. */
    @BeforeAll
    static void install() throws IOException, InterruptedException {
        Process installer = new ProcessBuilder(INSTALLER.toString(), "target/nvrtc")
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String said = new String(installer.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        boolean isThere = installer.waitFor(5, TimeUnit.MINUTES) && installer.exitValue() == 0;
        if (!isThere && "1".equals(System.getenv("ROSELLE_ALL_TEST_PROGRAMS"))) {
            fail("NVRTC could not be installed by tools/nvrtc.sh");
        }
        Assumptions.assumeTrue(isThere, "NVRTC could not be installed by tools/nvrtc.sh");
        System.setProperty(
                "roselle.cuda.libraries", Path.of(said).toAbsolutePath().toString());
    }

    static List<Arguments> kernels() {
        var all = new ArrayList<Arguments>();
        for (KernelSource source : KernelSource.values()) {
            for (String architecture : ARCHITECTURES) {
                if (source.isFor(architecture)) {
                    all.add(Arguments.of(source, architecture));
                }
            }
        }
        return all;
    }

    @ParameterizedTest
    @MethodSource("kernels")
    void compilesWithoutAWarning(KernelSource source, String architecture) {
        Compiler.Result result =
                new Compiler().compile(source.file(), source.text(), KernelSource.headers(), architecture);
        assertThat(result.log()).as("%s for %s", source.file(), architecture).isEmpty();
        assertThat(result.cubin()).startsWith(0x7F, 'E', 'L', 'F');
    }
}
