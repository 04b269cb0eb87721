package roselle.bench.backend;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The scripts in Python that come with the benchmark, tested by Python itself. */
final class DriversTest {
    private static final Path TESTS = Path.of("src", "test", "python");
    private static final Path DRIVERS = Path.of("src", "main", "resources", "roselle", "bench", "drivers");

    @TempDir
    private Path folder;

    /**
     * With stubs of torch and transformers, or with a very small model where the Python named by {@code
     * ROSELLE_TEST_PYTHON} has both.
     */
    @Test
    void theServerAroundTransformersPassesItsTests() throws Exception {
        String said =
                python("hf_server_test.py", TESTS.resolve("hf_server_test.py").toString());

        assertThat(said).containsPattern("Ran [0-9]{2,} tests").contains("\nOK");
    }

    /** With a stub of vLLM that takes what version 0.26 took when the driver was run with it. */
    @Test
    void theDriverOfVllmPassesItsTests() throws Exception {
        String said = python(
                "vllm_offline_test.py", TESTS.resolve("vllm_offline_test.py").toString());

        assertThat(said).contains("Ran 5 tests").contains("\nOK");
    }

    @Test
    void everyScriptIsPythonOfVersion310() throws Exception {
        List<Path> scripts;
        try (Stream<Path> all = Files.list(DRIVERS)) {
            scripts = all.filter(file -> file.toString().endsWith(".py")).toList();
        }
        String check = "import ast, sys; [ast.parse(open(f).read(), f, feature_version=(3, 10)) for f in sys.argv[1:]]";

        assertThat(scripts).hasSizeGreaterThanOrEqualTo(5);
        python(
                "drivers",
                Stream.concat(Stream.of("-c", check), scripts.stream().map(Path::toString))
                        .toArray(String[]::new));
    }

    private String python(String name, String... arguments) throws IOException, InterruptedException {
        Path log = folder.resolve(name + ".log");
        Process process = new ProcessBuilder(Stream.concat(Stream.of(interpreter()), Stream.of(arguments))
                        .toList())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        boolean hasEnded = process.waitFor(600, TimeUnit.SECONDS);
        process.destroyForcibly();
        String said = Files.readString(log);
        assertThat(hasEnded).as(said).isTrue();
        assertThat(process.exitValue()).as(said).isZero();
        return said;
    }

    private static String interpreter() {
        String named = System.getenv("ROSELLE_TEST_PYTHON");
        if (named != null) {
            return named;
        }
        Optional<Path> found = Stream.of(System.getenv("PATH").split(File.pathSeparator))
                .map(part -> Path.of(part, "python3"))
                .filter(Files::isExecutable)
                .findFirst();
        String missing = "python3 is not installed: run tools/test-programs.sh";
        if (found.isEmpty() && System.getenv("ROSELLE_ALL_TEST_PROGRAMS") != null) {
            throw new AssertionError(missing);
        }
        Assumptions.assumeTrue(found.isPresent(), missing);
        return found.orElseThrow().toString();
    }
}
