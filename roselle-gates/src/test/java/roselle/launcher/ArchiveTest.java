package roselle.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The archives and the image of a release, made of this build's jars, run without network, and without a Java beside them. */
@Tag("long")
@EnabledOnOs(value = OS.LINUX, architectures = "amd64")
final class ArchiveTest {
    private record Outcome(int status, String said) {}

    private static final Path CHECKOUT = Path.of("..").toAbsolutePath().normalize();

    @TempDir
    private static Path folder = Path.of("");

    @BeforeAll
    static void makeTheArchive() throws Exception {
        Outcome made = run(CHECKOUT, "tools/release/archive.sh", "linux-x64", folder.toString());
        assertThat(made.status()).as(made.said()).isZero();
    }

    @Test
    void tellsAStoryWithItsOwnRunTime() throws Exception {
        Path app = only(unpacked(), "roselle-*");
        Outcome story = run(app, "./roselle", "run", "demo", "Tell me a story about a fox.", "--max-tokens", "20");
        assertThat(story.status()).as(story.said()).isZero();
        assertThat(story.said()).contains("fox");
        assertThat(run(app, "./roselle", "doctor").said())
                .contains(app.resolve("runtime").toString());
    }

    @Test
    void asksNobodyOverTheNetwork() throws Exception {
        assumeTrue(run(folder, "unshare", "-rn", "true").status() == 0, "this system lends no network of one's own");
        Path app = only(unpacked(), "roselle-*");
        Outcome story = run(app, "unshare", "-rn", "./roselle", "run", "demo", "Hello", "--max-tokens", "5");
        assertThat(story.status()).as(story.said()).isZero();
    }

    @Test
    void filesForWindowsNameWhatIsThere() throws Exception {
        Path app = only(unpacked(), "roselle-*");
        String script = Files.readString(app.resolve("roselle.cmd"));
        assertThat(script.lines().count()).isEqualTo(script.split("\r\n", -1).length - 1L);
        assertThat(script).contains("java.options", "roselle.cli/roselle.cli.Main", "%ERRORLEVEL%");
        Outcome version = run(
                app, "runtime/bin/java", "@java.options", "-p", "lib", "-m", "roselle.cli/roselle.cli.Main", "version");
        assertThat(version.said()).containsPattern("(?m)^roselle [0-9]+\\.");
    }

    @Test
    void refusesAPlatformWhoseJdkIsNotThere() throws Exception {
        Outcome refused = run(CHECKOUT, "tools/release/archive.sh", "windows-x64", folder.toString());
        assertThat(refused.status()).isEqualTo(66);
        assertThat(refused.said()).contains("TARGET_JDK");
        assertThat(run(CHECKOUT, "tools/release/archive.sh", "amiga", folder.toString())
                        .status())
                .isEqualTo(2);
    }

    /** Modules that were made of a run time are linked to one again, each with its native files. */
    @Test
    void modulesAreMadeOfARunTime() throws Exception {
        Path app = only(unpacked(), "roselle-*");
        Path jdk = folder.resolve("jdk");
        Path linked = folder.resolve("linked");
        String image = app.resolve("runtime").toString();
        require(run(CHECKOUT, "tools/release/jmods.sh", jdk.toString(), image));
        String jmods = jdk.resolve("jmods").toString();
        String jlink = Path.of(System.getProperty("java.home"), "bin", "jlink").toString();
        String wanted = "jdk.incubator.vector,java.management";
        require(run(folder, jlink, "--module-path", jmods, "--add-modules", wanted, "--output", linked.toString()));
        Outcome modules = run(linked, "bin/java", "--list-modules");
        assertThat(modules.said()).contains("jdk.incubator.vector@").doesNotContain("jdk.jcmd");
        assertThat(linked.resolve("lib/libjsvml.so"))
                .as("the vectors' own library")
                .exists();
        assertThat(linked.resolve("bin/jcmd"))
                .as("a module's that is not there")
                .doesNotExist();
        assertThat(run(CHECKOUT, "tools/release/jmods.sh", jdk.toString(), folder.toString())
                        .status())
                .as("what is no run time")
                .isEqualTo(66);
    }

    /** The layers are laid over each other and run as the image says, with nothing of this system but its kernel. */
    @Test
    void theImageRunsWithoutAnythingOfThisSystem() throws Exception {
        assumeTrue(run(folder, "unshare", "-mn", "true").status() == 0, "this system lets nobody mount");
        Outcome made = run(CHECKOUT, "tools/release/image.sh", folder.toString());
        assertThat(made.status()).as(made.said()).isZero();
        Path image = Files.createTempDirectory(folder, "image");
        require(run(folder, "tar", "-xf", only(folder, "*-oci.tar").toString(), "-C", image.toString()));
        String config = blob(image, blob(image, Files.readString(image.resolve("index.json")), 0), 0);
        assertThat(config).contains("\"User\": \"65532:65532\"");
        Path root = Files.createDirectory(image.resolve("root"));
        String manifest = blob(image, Files.readString(image.resolve("index.json")), 0);
        for (int layer = 1; layer <= 2; layer++) {
            Path blob = blobs(image, manifest).get(layer);
            require(run(folder, "tar", "-xzpf", blob.toString(), "-C", root.toString()));
        }
        String command =
                "mount -t proc proc root/proc && exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/var/lib/roselle "
                        + "chroot --userspec=65532:65532 root /lib64/ld-linux-x86-64.so.2 --library-path /lib64 /opt/roselle/runtime/bin/java "
                        + "@/opt/roselle/java.options -p /opt/roselle/lib -m roselle.cli/roselle.cli.Main "
                        + "run demo 'Tell me a story about a fox.' --max-tokens 20";
        Outcome story = run(image, "unshare", "-mn", "sh", "-c", command);
        assertThat(story.status()).as(story.said()).isZero();
        assertThat(story.said()).contains("fox");
    }

    private static Path unpacked() throws Exception {
        Path place = Files.createTempDirectory(folder, "unpacked");
        require(run(folder, "tar", "-xzf", only(folder, "*-linux-x64.tar.gz").toString(), "-C", place.toString()));
        return place;
    }

    private static String blob(Path image, String json, int index) throws IOException {
        return Files.readString(blobs(image, json).get(index));
    }

    private static List<Path> blobs(Path image, String json) {
        return Pattern.compile("sha256:([0-9a-f]{64})")
                .matcher(json)
                .results()
                .map(found -> image.resolve("blobs/sha256").resolve(found.group(1)))
                .toList();
    }

    private static Path only(Path place, String glob) throws IOException {
        try (var files = Files.newDirectoryStream(place, glob)) {
            return files.iterator().next();
        }
    }

    private static void require(Outcome outcome) {
        assertThat(outcome.status()).as(outcome.said()).isZero();
    }

    private static Outcome run(Path where, String... command) throws IOException, InterruptedException {
        var builder = new ProcessBuilder(command).directory(where.toFile()).redirectErrorStream(true);
        var environment = builder.environment();
        environment.put("HOME", folder.toString());
        environment.put("ROSELLE_CACHE", folder.resolve("cache").toString());
        environment.put("ROSELLE_JDK_URL", "none");
        environment.put("JAVA_HOME", System.getProperty("java.home"));
        environment.put("JARS", jars().toString());
        Process process = builder.start();
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), UTF_8);
        return new Outcome(process.waitFor(), said);
    }

    /** The folder of roselle-cli's jar in this build, whose folder may be {@code target} or {@code target/quick}. */
    private static Path jars() {
        try {
            Path classes = Path.of(ArchiveTest.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI());
            Path build = CHECKOUT.resolve("roselle-gates").relativize(classes.getParent());
            return CHECKOUT.resolve("roselle-cli").resolve(build);
        } catch (URISyntaxException failure) {
            throw new IllegalStateException(failure);
        }
    }
}
