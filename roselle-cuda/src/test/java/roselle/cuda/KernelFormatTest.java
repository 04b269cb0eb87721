package roselle.cuda;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Kernels are laid out as {@code roselle-cuda/.clang-format} says. */
@Tag("long")
class KernelFormatTest {
    private static final Path KERNELS = Path.of("src/main/cuda");
    private static final Path INSTALLER = Path.of("../tools/clang-format.sh");

    /** What a program said, and how it ended. */
    private record Ran(int status, String said) {}

    private static Ran run(List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), UTF_8);
        return new Ran(process.waitFor(5, TimeUnit.MINUTES) ? process.exitValue() : -1, said);
    }

    @TempDir
    private Path folder = Path.of("");

    private static Ran check(List<Path> files) throws IOException, InterruptedException {
        Ran installed = run(List.of(INSTALLER.toString(), "target/clang-format"));
        if (installed.status != 0 && "1".equals(System.getenv("ROSELLE_ALL_TEST_PROGRAMS"))) {
            fail("tools/clang-format.sh could not install clang-format: " + installed.said);
        }
        Assumptions.assumeTrue(installed.status == 0, "tools/clang-format.sh could not install clang-format");
        var command =
                new ArrayList<>(List.of(installed.said.strip(), "--style=file:.clang-format", "--dry-run", "--Werror"));
        files.forEach(file -> command.add(file.toString()));
        return run(command);
    }

    @Test
    void kernelsAreLaidOut() throws IOException, InterruptedException {
        List<Path> files;
        try (Stream<Path> all = Files.walk(KERNELS)) {
            files = all.filter(file -> file.toString().matches(".*\\.cuh?"))
                    .sorted()
                    .toList();
        }
        assertThat(files).hasSizeGreaterThan(20);
        Ran checked = check(files);
        assertThat(checked.status)
                .as(
                        "\"$(tools/clang-format.sh roselle-cuda/target/clang-format)\" -i roselle-cuda/src/main/cuda/*/*.cu*%n%s",
                        checked.said)
                .isZero();
    }

    @Test
    void anotherLayoutIsFound() throws IOException, InterruptedException {
        Path file = Files.writeString(folder.resolve("kernel.cu"), "__device__ int one()\n{ return 1; }\n");
        Ran checked = check(List.of(file));
        assertThat(checked.status).isNotZero();
        assertThat(checked.said).contains("kernel.cu:1:");
    }
}
