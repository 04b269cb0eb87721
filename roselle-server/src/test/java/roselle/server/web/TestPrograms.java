package roselle.server.web;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/** Programs of the system that tests drive; {@code tools/test-programs.sh} installs them. */
final class TestPrograms {
    private TestPrograms() {}

    /** A program on the path. Without it the test is skipped and says so, but fails where all programs must be there. */
    static Path find(String name) {
        var found = Stream.of(System.getenv("PATH").split(File.pathSeparator))
                .map(folder -> Path.of(folder, name))
                .filter(Files::isExecutable)
                .findFirst();
        String missing = name + " is not installed: run tools/test-programs.sh";
        if (found.isEmpty() && System.getenv("ROSELLE_ALL_TEST_PROGRAMS") != null) {
            throw new AssertionError(missing);
        }
        Assumptions.assumeTrue(found.isPresent(), missing);
        return found.orElseThrow();
    }
}
