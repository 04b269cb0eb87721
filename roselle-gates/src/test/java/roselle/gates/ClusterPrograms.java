package roselle.gates;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import roselle.backend.UserCache;

/** What {@code tools/cluster-programs.sh} has built; tests that need what is not there are skipped, and say so. */
final class ClusterPrograms {
    private static final Path FOLDER = UserCache.folder().resolve("cluster-programs");

    private ClusterPrograms() {}

    /** What a program said, on both its outputs, and how it ended. */
    record Ended(int status, String said) {
        Ended requireSuccess() {
            assertThat(status).as(said).isZero();
            return this;
        }
    }

    /** The path of a program: built, or installed. */
    static Path program(String name) {
        Optional<Path> found = Stream.concat(
                        Stream.of(FOLDER.resolve("bin")),
                        Stream.of(System.getenv().getOrDefault("PATH", "").split(":"))
                                .map(Path::of))
                .map(folder -> folder.resolve(name))
                .filter(Files::isExecutable)
                .findFirst();
        assumeTrue(found.isPresent(), "there is no " + name + ": tools/cluster-programs.sh builds it");
        return found.orElseThrow();
    }

    /** A file that was written beside the programs. */
    static Path schemas(String name) {
        Path file = FOLDER.resolve("schemas").resolve(name);
        assumeTrue(Files.exists(file), "there are no schemas: tools/cluster-programs.sh writes them");
        return file;
    }

    /** Where the schemas of kinds are, as kubeconform wants it. */
    static String schemaLocation() {
        return schemas("crds.yaml")
                .resolveSibling("{{.ResourceKind}}{{.KindSuffix}}.json")
                .toString();
    }

    static Ended run(Path program, String... arguments) throws IOException, InterruptedException {
        var command = Stream.concat(Stream.of(program.toString()), Stream.of(arguments))
                .toList();
        return run(command, "");
    }

    /** Runs a program that reads {@code input}. */
    static Ended run(List<String> command, String input) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try (var out = process.getOutputStream()) {
            out.write(input.getBytes(StandardCharsets.UTF_8));
        }
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Ended(process.waitFor(), said);
    }
}
