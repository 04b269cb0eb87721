package roselle.server.web;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Programs of a system that tests drive; {@code tools/test-programs.sh} installs them.
 *
 * @param folders where they are, as {@code PATH} has it
 * @param mustBeThere whether tests that lack one fail
 */
record TestPrograms(String folders, boolean mustBeThere) {
    static TestPrograms ofThisSystem() {
        return new TestPrograms(
                String.valueOf(System.getenv("PATH")), System.getenv("ROSELLE_ALL_TEST_PROGRAMS") != null);
    }

    /** A program on the path, for a test that {@link NeedsPrograms} says it drives. */
    static Path find(String name) {
        var system = ofThisSystem();
        return system.path(name)
                .orElseThrow(() -> new AssertionError(system.missing(name).orElse(name)));
    }

    /** A sentence about the first of the programs that is not there. */
    Optional<String> missing(String... names) {
        return Stream.of(names)
                .filter(name -> path(name).isEmpty())
                .map(name -> name + " is not installed: run tools/test-programs.sh")
                .findFirst();
    }

    private Optional<Path> path(String name) {
        return Stream.of(folders.split(File.pathSeparator))
                .map(folder -> Path.of(folder, name))
                .filter(Files::isExecutable)
                .findFirst();
    }
}
