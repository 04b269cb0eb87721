package roselle.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The wrapper downloads a Maven; a stand-in for it prints the arguments it was given. */
@DisabledOnOs(OS.WINDOWS)
final class MavenWrapperTest {
    private record Outcome(int status, String out, String err) {}

    private static final String VERSION = "apache-maven-3.9.11";
    private static final String ARCHIVE = "/maven/" + VERSION + "-bin.tar.gz";
    private static final String MIRRORED = "/mirror/org/apache/maven/apache-maven/3.9.11/" + VERSION + "-bin.tar.gz";
    private static final String FAKE_MAVEN = """
            #!/bin/sh
            for argument; do printf '<%s>\\n' "$argument"; done
            exit 42
            """;

    @TempDir
    private Path folder = Path.of("");

    private final ServedFiles served = new ServedFiles();

    @BeforeEach
    void copyTheWrapper() throws Exception {
        Path project = Path.of("..").toAbsolutePath().normalize();
        Files.createDirectories(folder.resolve("a checkout/.mvn/wrapper"));
        Files.copy(project.resolve("mvnw"), folder.resolve("a checkout/mvnw"), StandardCopyOption.COPY_ATTRIBUTES);
    }

    @AfterEach
    void stopTheServer() {
        served.close();
    }

    @Test
    void downloadsMavenOnceAndPassesArgumentsAndStatus() throws Exception {
        byte[] archive = archive();
        served.serve(ARCHIVE, archive);
        name(ServedFiles.sha256(archive));
        Outcome first = mvnw(Map.of(), "-B", "a b", "", "*");
        assertThat(first).isEqualTo(new Outcome(42, "<-B>\n<a b>\n<>\n<*>\n", ""));
        assertThat(mvnw(Map.of(), "verify")).isEqualTo(new Outcome(42, "<verify>\n", ""));
        assertThat(served.downloads()).isEqualTo(1);
        assertThat(kept()).hasSize(1);
    }

    @Test
    void downloadsFromAMirror() throws Exception {
        byte[] archive = archive();
        served.serve(MIRRORED, archive);
        name(ServedFiles.sha256(archive));
        var mirror = Map.of("MVNW_REPOURL", served.url("/mirror/"));
        assertThat(mvnw(mirror, "verify")).isEqualTo(new Outcome(42, "<verify>\n", ""));
    }

    @Test
    void refusesAnArchiveWhoseChecksumDiffers() throws Exception {
        byte[] archive = archive();
        served.serve(ARCHIVE, archive);
        name(ServedFiles.sha256(archive));
        archive[archive.length / 2] ^= 1;
        Outcome outcome = mvnw(Map.of(), "verify");
        assertThat(outcome.status()).isEqualTo(65);
        assertThat(outcome.err()).contains("SHA-256", "nothing was installed");
        assertThat(kept()).isEmpty();
    }

    @Test
    void saysWhatCouldNotBeDownloaded() throws Exception {
        name("0".repeat(64));
        Outcome outcome = mvnw(Map.of(), "verify");
        assertThat(outcome.status()).isEqualTo(75);
        assertThat(outcome.err()).contains("mvnw: the download of " + served.url(ARCHIVE) + " failed");
        assertThat(kept()).isEmpty();
    }

    @Test
    void refusesAnArchiveThatIsNone() throws Exception {
        byte[] text = "not an archive".getBytes(UTF_8);
        served.serve(ARCHIVE, text);
        name(ServedFiles.sha256(text));
        Outcome outcome = mvnw(Map.of(), "verify");
        assertThat(outcome.status()).isEqualTo(74);
        assertThat(outcome.err()).contains("unpacking");
        assertThat(kept()).isEmpty();
    }

    /** What the project itself names is a release of Maven's, with a checksum. */
    @Test
    void theProjectNamesAReleaseAndItsChecksum() throws IOException {
        assertThat(Files.readAllLines(Path.of("../.mvn/wrapper/maven-wrapper.properties")))
                .anyMatch(line -> line.startsWith("distributionUrl=https://") && line.endsWith("-bin.tar.gz"))
                .anyMatch(line -> line.length() == "distributionSha256Sum=".length() + 64);
    }

    private byte[] archive() throws Exception {
        Path maven = folder.resolve("made/" + VERSION);
        Files.createDirectories(maven.resolve("bin"));
        Path program = Files.writeString(maven.resolve("bin/mvn"), FAKE_MAVEN);
        assertThat(program.toFile().setExecutable(true)).isTrue();
        return ServedFiles.archive(maven);
    }

    private void name(String checksum) throws IOException {
        Files.writeString(
                folder.resolve("a checkout/.mvn/wrapper/maven-wrapper.properties"),
                "distributionUrl=" + served.url(ARCHIVE) + "\ndistributionSha256Sum=" + checksum + "\n");
    }

    /** The Mavens that are installed, and what a failed download must not leave behind. */
    private List<Path> kept() throws IOException {
        Path kept = folder.resolve("user home/wrapper/dists");
        if (!Files.exists(kept)) {
            return List.of();
        }
        try (var paths = Files.list(kept)) {
            return paths.toList();
        }
    }

    private Outcome mvnw(Map<String, String> environment, String... arguments) throws Exception {
        var command = new ArrayList<>(List.of(folder.resolve("a checkout/mvnw").toString()));
        command.addAll(List.of(arguments));
        var builder = new ProcessBuilder(command);
        builder.environment().remove("MVNW_REPOURL");
        builder.environment()
                .keySet()
                .removeIf(name -> name.toLowerCase(Locale.ROOT).endsWith("_proxy"));
        builder.environment().put("MAVEN_USER_HOME", folder.resolve("user home").toString());
        builder.environment().putAll(environment);
        Process process = builder.start();
        process.getOutputStream().close();
        String out = new String(process.getInputStream().readAllBytes(), UTF_8);
        String err = new String(process.getErrorStream().readAllBytes(), UTF_8);
        assertThat(process.waitFor(180, TimeUnit.SECONDS)).isTrue();
        return new Outcome(process.exitValue(), out, err);
    }
}
