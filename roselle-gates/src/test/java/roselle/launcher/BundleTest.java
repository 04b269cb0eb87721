package roselle.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * What Maven repositories want of a release is made of every module, whatever it is written in and built upon, and signed. Classes
 * are compiled without the checks of the ordinary build, of which this test is a part.
 */
@Tag("long")
@DisabledOnOs(OS.WINDOWS)
final class BundleTest {
    private record Outcome(int status, String said) {}

    private static final Path CHECKOUT = Path.of("..").toAbsolutePath().normalize();

    /** Folders of modules that have no artifact. */
    private static final Set<String> NOT_RELEASED = Set.of("roselle-gates");

    private static final Pattern NAME = Pattern.compile("<artifactId>([^<]+)</artifactId>");

    /** What Maven says of plugins and libraries that it can neither find nor fetch. */
    private static final Pattern NOT_TO_BE_HAD =
            Pattern.compile("Could not transfer|offline mode|Unknown host|could not be resolved");

    @TempDir
    private Path folder = Path.of("");

    @Test
    void everyModuleIsReleasedWithAllThatARepositoryWants() throws Exception {
        boolean isSigned = hasKey();
        try {
            Path group = bundle().resolve("io/github/roselle");
            assertThat(names(group)).as("artifacts of the release").isEqualTo(modules());
            if (isSigned) {
                requireSignatures(group);
            } else {
                skip("gpg is not installed, so that nothing was signed: run tools/test-programs.sh");
            }
        } finally {
            if (isSigned) {
                run("gpgconf", "--kill", "gpg-agent");
            }
        }
    }

    /** A key for this test alone, where there is a gpg to make it. */
    private boolean hasKey() throws IOException, InterruptedException {
        boolean isThere = Stream.of(String.valueOf(System.getenv("PATH")).split(File.pathSeparator))
                .anyMatch(place -> Files.isExecutable(Path.of(place, "gpg")));
        if (isThere) {
            require(run("mkdir", "-m", "700", "gpg"));
            require(run(
                    "gpg", "--batch", "--passphrase", "", "--quick-generate-key", "test", "ed25519", "sign", "never"));
        }
        return isThere;
    }

    private Path bundle() throws IOException, InterruptedException {
        Path bundle = folder.resolve("bundle");
        Outcome made = run(CHECKOUT.resolve("tools/release/bundle.sh").toString(), bundle.toString());
        if (made.status() != 0 && NOT_TO_BE_HAD.matcher(made.said()).find()) {
            skip("plugins or libraries of the release build are neither here nor to be fetched: " + made.said());
        }
        require(made);
        assertThat(folder.resolve("bundle.zip")).isNotEmptyFile();
        return bundle;
    }

    /** Skips the test with a sentence, which fails where everything that tests need must be there. */
    private static void skip(String sentence) {
        if (System.getenv("ROSELLE_ALL_TEST_PROGRAMS") != null) {
            fail(sentence);
        }
        abort(sentence);
    }

    private void requireSignatures(Path group) throws IOException, InterruptedException {
        List<Path> artifacts;
        try (var files = Files.walk(group)) {
            artifacts = files.filter(file -> file.toString().matches(".*\\.(jar|pom|json)"))
                    .toList();
        }
        assertThat(artifacts).hasSizeGreaterThan(modules().size());
        for (Path file : artifacts) {
            require(run("gpg", "--batch", "--verify", file + ".asc", file.toString()));
        }
    }

    /** The artifacts of all modules, and of their parent. */
    private static Set<String> modules() throws IOException {
        var names = new TreeSet<>(Set.of("roselle-parent"));
        try (var folders = Files.newDirectoryStream(CHECKOUT, "roselle-*")) {
            for (Path module : folders) {
                Path pom = module.resolve("pom.xml");
                if (Files.exists(pom)
                        && !NOT_RELEASED.contains(module.getFileName().toString())) {
                    names.add(nameIn(Files.readString(pom)));
                }
            }
        }
        return names;
    }

    /** The name behind that of the parent, where there is one. */
    private static String nameIn(String pom) {
        var matcher = NAME.matcher(pom.replaceFirst("(?s)<parent>.*?</parent>", ""));
        assertThat(matcher.find()).isTrue();
        return matcher.group(1);
    }

    private static Set<String> names(Path group) throws IOException {
        var names = new TreeSet<String>();
        try (var folders = Files.newDirectoryStream(group)) {
            folders.forEach(artifact -> names.add(artifact.getFileName().toString()));
        }
        return names;
    }

    private static void require(Outcome outcome) {
        assertThat(outcome.status()).as(outcome.said()).isZero();
    }

    /** Runs a program with the JDK, the Maven and the repository of this very build. */
    private Outcome run(String... command) throws IOException, InterruptedException {
        var builder = new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true);
        var environment = builder.environment();
        environment.put("GNUPGHOME", folder.resolve("gpg").toString());
        environment.put("JAVA_HOME", System.getProperty("java.home"));
        environment.put("ROSELLE_SIGNING_KEY", Files.exists(folder.resolve("gpg")) ? "test" : "");
        environment.put(
                "MAVEN_ARGUMENTS", "-Dquick -T 2 -Dmaven.repo.local=" + System.getProperty("roselle.maven.repository"));
        environment.merge(
                "PATH",
                System.getProperty("roselle.maven.home") + "/bin",
                (path, maven) -> maven + File.pathSeparator + path);
        Process process = builder.start();
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), UTF_8);
        return new Outcome(process.waitFor(), said);
    }
}
