package roselle.cuda;

import static org.assertj.core.api.Assertions.fail;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import roselle.cuda.nvrtc.Compiler;

/** NVRTC as tests have it: from its Python wheel, on machines without a GPU too. */
public final class TestCompiler implements AutoCloseable {
    private static final Path INSTALLER = Path.of("../tools/nvrtc.sh");
    private static final String LIBRARIES = "roselle.cuda.libraries";

    private final Optional<String> told = Optional.ofNullable(System.getProperty(LIBRARIES));

    private TestCompiler() {}

    /**
     * Installs the compiler; where it cannot be had, the test is skipped, or fails where CI says that nothing may be missing.
     *
     * @return to be closed when no kernel is to be compiled any more
     */
    public static TestCompiler install() throws IOException, InterruptedException {
        Process installer = new ProcessBuilder(INSTALLER.toString(), "target/nvrtc")
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String said = new String(installer.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        boolean isThere = installer.waitFor(5, TimeUnit.MINUTES) && installer.exitValue() == 0;
        if (!isThere && "1".equals(System.getenv("ROSELLE_ALL_TEST_PROGRAMS"))) {
            fail("NVRTC could not be installed by tools/nvrtc.sh");
        }
        Assumptions.assumeTrue(isThere, "NVRTC could not be installed by tools/nvrtc.sh");
        var installed = new TestCompiler();
        System.setProperty(LIBRARIES, Path.of(said).toAbsolutePath().toString());
        return installed;
    }

    public Compiler open() {
        return new Compiler();
    }

    @Override
    public void close() {
        told.ifPresentOrElse(before -> System.setProperty(LIBRARIES, before), () -> System.clearProperty(LIBRARIES));
    }
}
