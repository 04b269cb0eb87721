package roselle.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The launcher finds a JDK or downloads one; a stand-in for the JDK prints the arguments that java was given. */
@DisabledOnOs(OS.WINDOWS)
final class LauncherTest {
    private record Outcome(int status, String out, String err) {}

    private static final String FAKE_JAVA = """
            #!/bin/sh
            for argument; do printf '<%s>\\n' "$argument"; done
            exit 42
            """;

    /** Lists two classes, says that a run of {@code good} came to something, and makes an archive of a list. */
    private static final String LISTING_JAVA = """
            #!/bin/sh
            for argument; do
                case $argument in
                    -XX:DumpLoadedClassList=*) list=${argument#*=} ;;
                    -XX:SharedClassListFile=*) listed=${argument#*=} ;;
                    -XX:SharedArchiveFile=*) archive=${argument#*=} ;;
                    -Droselle.startMark=*) mark=${argument#*=} ;;
                    -Xshare:dump) dumps=yes ;;
                    good) good=yes ;;
                esac
            done
            if [ "${dumps-}" = yes ]; then
                cat "$listed" >"$archive"
                exit
            fi
            printf '%s\n' "${archive-none}"
            [ -z "${list-}" ] || printf 'one\ntwo\n' >"$list"
            [ "${good-}" != yes ] || [ -z "${mark-}" ] || : >"$mark"
            """;

    @TempDir
    private Path folder = Path.of("");

    private final ServedFiles served = new ServedFiles();

    @BeforeEach
    void installTheLauncher() throws IOException {
        // Without a pom.xml beside it the launcher takes the folder for an installation and builds nothing.
        Path launcher = Path.of("..", "roselle").toAbsolutePath().normalize();
        Files.createDirectories(folder.resolve("app/roselle-cli/target/lib"));
        Files.writeString(folder.resolve("app/roselle-cli/target/roselle-cli-1.jar"), "");
        Files.copy(launcher, folder.resolve("app/roselle"), StandardCopyOption.COPY_ATTRIBUTES);
        Files.createDirectories(folder.resolve("home"));
    }

    @AfterEach
    void stopTheServer() {
        served.close();
    }

    @Test
    void downloadsAJdkOnceAndPassesArgumentsAndStatus() throws Exception {
        serve(archive("25.0.3"), true);
        Outcome first = roselle(Map.of(), "run", "a b", "", "*");
        assertThat(first.err()).contains("no JDK 25 found");
        assertThat(first.out()).endsWith("<roselle.cli/roselle.cli.Main>\n<run>\n<a b>\n<>\n<*>\n");
        assertThat(first.status()).isEqualTo(42);
        Outcome second = roselle(Map.of(), "run");
        assertThat(second.err()).isEmpty();
        assertThat(second.status()).isEqualTo(42);
        assertThat(served.downloads()).isEqualTo(1);
        assertThat(leftovers()).isEmpty();
    }

    @Test
    void twoLaunchersAtOnceDownloadOnce() throws Exception {
        serve(archive("25.0.3"), true);
        Process one = process(Map.of(), "version");
        Process two = process(Map.of(), "version");
        assertThat(outcome(one).status()).isEqualTo(42);
        assertThat(outcome(two).status()).isEqualTo(42);
        assertThat(served.downloads()).isEqualTo(1);
    }

    @Test
    void refusesADownloadWhoseChecksumDiffers() throws Exception {
        byte[] archive = archive("25.0.3");
        serve(archive, true);
        archive[archive.length / 2] ^= 1;
        Outcome outcome = roselle(Map.of(), "version");
        assertThat(outcome.status()).isEqualTo(65);
        assertThat(outcome.err()).contains("SHA-256", "nothing was installed");
        assertThat(installed()).isEmpty();
        assertThat(leftovers()).isEmpty();
    }

    @Test
    void saysWhatCouldNotBeDownloaded() throws Exception {
        Outcome outcome = roselle(Map.of(), "version");
        assertThat(outcome.status()).isEqualTo(75);
        assertThat(outcome.err()).contains("/jdk.tar.gz failed");
        assertThat(leftovers()).isEmpty();
    }

    @Test
    void saysThatTheChecksumCouldNotBeDownloaded() throws Exception {
        serve(archive("25.0.3"), false);
        Outcome outcome = roselle(Map.of(), "version");
        assertThat(outcome.status()).isEqualTo(75);
        assertThat(outcome.err()).contains(".sha256.txt failed");
        assertThat(installed()).isEmpty();
    }

    @Test
    void refusesAnArchiveThatIsNone() throws Exception {
        serve("not an archive".getBytes(UTF_8), true);
        Outcome outcome = roselle(Map.of(), "version");
        assertThat(outcome.status()).isEqualTo(74);
        assertThat(outcome.err()).contains("unpacking");
        assertThat(leftovers()).isEmpty();
    }

    @Test
    void refusesAJdkThatIsTooOld() throws Exception {
        serve(archive("21.0.9"), true);
        Outcome outcome = roselle(Map.of(), "version");
        assertThat(outcome.status()).isEqualTo(65);
        assertThat(outcome.err()).contains("does not hold a JDK 25");
        assertThat(installed()).isEmpty();
    }

    @Test
    void prefersTheJdkItIsTold() throws Exception {
        Path told = jdk(folder.resolve("told jdk"), "26");
        Outcome outcome = roselle(Map.of("ROSELLE_JAVA_HOME", told.toString()), "version");
        assertThat(outcome.status()).isEqualTo(42);
        assertThat(outcome.err()).isEmpty();
    }

    @Test
    void refusesAToldJdkThatIsTooOld() throws Exception {
        Path told = jdk(folder.resolve("old"), "17.0.1");
        Outcome outcome = roselle(Map.of("ROSELLE_JAVA_HOME", told.toString()), "version");
        assertThat(outcome.status()).isEqualTo(66);
        assertThat(outcome.err()).contains("not a JDK 25 or newer");
    }

    @Test
    void passesOverAnOldJavaHome() throws Exception {
        Path old = jdk(folder.resolve("old"), "17.0.1");
        jdk(folder.resolve("home/.jdks/temurin-25"), "25.0.1");
        Outcome outcome = roselle(Map.of("JAVA_HOME", old.toString()), "version");
        assertThat(outcome.status()).isEqualTo(42);
        assertThat(served.downloads()).isEqualTo(0);
    }

    @Test
    void findsAJdkOfSdkman() throws Exception {
        jdk(folder.resolve("home/.sdkman/candidates/java/25.0.1-tem"), "25.0.1");
        assertThat(roselle(Map.of(), "version").status()).isEqualTo(42);
    }

    @Test
    void findsAJdkInTheFoldersOfTheSystem() throws Exception {
        jdk(folder.resolve("jvm/jdk-25"), "25.0.1");
        var places = Map.of("ROSELLE_JVM_FOLDERS", folder.resolve("none") + ":" + folder.resolve("jvm"));
        assertThat(roselle(places, "version").status()).isEqualTo(42);
    }

    @Test
    void runsFromASymbolicLinkElsewhere() throws Exception {
        Path jdk = jdk(folder.resolve("jdk"), "25");
        Path link = Files.createSymbolicLink(folder.resolve("home/r"), folder.resolve("app/roselle"));
        var builder = builder(Map.of("ROSELLE_JAVA_HOME", jdk.toString()), List.of("version"));
        builder.command(link.toString(), "version");
        assertThat(outcome(builder.start()).out()).contains(folder.toRealPath() + "/app/roselle-cli/target/");
    }

    @Test
    void runsFromAnArchiveWithTheRunTimeBesideIt() throws Exception {
        Path app = folder.resolve("unpacked");
        Files.createDirectories(app.resolve("lib"));
        Files.copy(folder.resolve("app/roselle"), app.resolve("roselle"), StandardCopyOption.COPY_ATTRIBUTES);
        Files.writeString(app.resolve("lib/roselle-cli-1.jar"), "");
        jdk(app.resolve("runtime"), "25");
        Path other = jdk(folder.resolve("other"), "26");
        Files.writeString(other.resolve("bin/java"), "#!/bin/sh\nexit 3\n");
        var builder = builder(Map.of("JAVA_HOME", other.toString()), List.of());
        builder.command(app.resolve("roselle").toString(), "version");
        Outcome outcome = outcome(builder.start());
        assertThat(outcome.status()).isEqualTo(42);
        assertThat(outcome.out()).contains("<" + app.toRealPath() + "/lib/roselle-cli-1.jar>");
    }

    /** Paths of modules are separated by colons, and nothing quotes one. */
    @Test
    void runsFromAFolderWithAColonInItsName() throws Exception {
        Path jdk = jdk(folder.resolve("jdk"), "25");
        Path app = Files.move(folder.resolve("app"), folder.resolve("app: new"));
        Files.writeString(app.resolve("roselle-cli/target/lib/library.jar"), "");
        for (int start = 0; start < 2; start++) {
            var builder = builder(Map.of("ROSELLE_JAVA_HOME", jdk.toString()), List.of());
            builder.command(app.resolve("roselle").toString(), "version");
            Outcome outcome = outcome(builder.start());
            assertThat(outcome.err()).isEmpty();
            String path = outcome.out()
                    .lines()
                    .dropWhile(line -> !line.equals("<-p>"))
                    .skip(1)
                    .findFirst()
                    .orElseThrow();
            String[] parts = path.substring(1).split(":", -1); // our jar, and a library
            assertThat(parts).hasSize(2);
            assertThat(Path.of(parts[0]).toRealPath())
                    .isEqualTo(app.toRealPath().resolve("roselle-cli/target/roselle-cli-1.jar"));
        }
    }

    @Test
    void saysWhereNoFolderIsWithoutAColon() throws Exception {
        Path app = Files.move(folder.resolve("app"), folder.resolve("a:b"));
        var cache = Map.of("ROSELLE_CACHE", folder.resolve("c:d").toString());
        var builder = builder(cache, List.of());
        builder.command(app.resolve("roselle").toString(), "version");
        Outcome outcome = outcome(builder.start());
        assertThat(outcome.status()).isEqualTo(2);
        assertThat(outcome.err()).contains("a:b", "c:d", "without a colon", "ROSELLE_CACHE");
    }

    /** A caller that reads to the end before it asks for the status must not wait for the cache that is being made. */
    @Test
    void itsOutputEndsThoughNobodyHasAskedForItsStatus() throws Exception {
        Path told = jdk(folder.resolve("told"), "26");
        var builder = builder(Map.of("ROSELLE_JAVA_HOME", told.toString()), List.of());
        builder.command("sh", "-c", folder.resolve("app/roselle") + " version & exec sleep 400 >/dev/null 2>&1");
        Process sleeper = builder.start();
        long begin = System.nanoTime();
        sleeper.getInputStream().readAllBytes();
        sleeper.getErrorStream().readAllBytes();
        assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofMinutes(5));
        sleeper.destroyForcibly();
    }

    @Test
    void archivesTheClassesOfARunThatCameToSomethingAlone() throws Exception {
        Map<String, String> environment =
                Map.of("ROSELLE_JAVA_HOME", listingJdk().toString());

        assertThat(roselle(environment, "run", "misspelt").out()).isEqualTo("none\n");
        awaitStart(names -> names.isEmpty());

        assertThat(roselle(environment, "run", "good").out()).isEqualTo("none\n");
        awaitStart(names -> names.size() == 1 && names.getFirst().endsWith("-run.jsa"));

        assertThat(roselle(environment, "run", "misspelt").out()).endsWith("-run.jsa\n");
    }

    @Test
    void takesTheStartCacheOverFromARunThatWasKilled() throws Exception {
        Map<String, String> environment =
                Map.of("ROSELLE_JAVA_HOME", listingJdk().toString());
        roselle(environment, "run", "good");
        awaitStart(names -> names.size() == 1 && names.getFirst().endsWith("-run.jsa"));
        Path archive = list(folder.resolve("cache/start")).getFirst();
        Files.delete(archive);
        Path lock = Path.of(archive.toString().replace(".jsa", ".lock"));
        Process dead = new ProcessBuilder("true").start();
        dead.waitFor();
        Files.writeString(Files.createDirectory(lock).resolve("owner"), dead.pid() + "\n");

        roselle(environment, "run", "good");

        awaitStart(names -> names.equals(List.of(archive.getFileName().toString())));
    }

    private Path listingJdk() throws IOException {
        Path home = jdk(folder.resolve("listing"), "25");
        Files.writeString(home.resolve("bin/java"), LISTING_JAVA);
        return home;
    }

    /** Waits until the folder of start-up caches is as it must be: what makes them is still at work when a run has ended. */
    private void awaitStart(Predicate<List<String>> condition) throws IOException {
        long end = System.nanoTime() + Duration.ofMinutes(3).toNanos();
        List<String> names = startNames();
        while (!condition.test(names)) {
            assertThat(System.nanoTime())
                    .as("waited 3 minutes, there are " + names)
                    .isLessThan(end);
            LockSupport.parkNanos(10_000_000);
            names = startNames();
        }
    }

    private List<String> startNames() throws IOException {
        return list(folder.resolve("cache/start")).stream()
                .map(path -> path.getFileName().toString())
                .toList();
    }

    private void serve(byte[] archive, boolean withChecksum) throws Exception {
        served.serve("/jdk.tar.gz", archive);
        if (withChecksum) {
            served.serve("/jdk.tar.gz.sha256.txt", (ServedFiles.sha256(archive) + "  jdk.tar.gz\n").getBytes(UTF_8));
        }
    }

    private byte[] archive(String version) throws Exception {
        return ServedFiles.archive(jdk(folder.resolve("archive/jdk-" + version), version));
    }

    private static Path jdk(Path home, String version) throws IOException {
        Files.createDirectories(home.resolve("bin"));
        Files.writeString(home.resolve("release"), "IMPLEMENTOR=\"Nobody\"\nJAVA_VERSION=\"" + version + "\"\n");
        Path java = Files.writeString(home.resolve("bin/java"), FAKE_JAVA);
        assertThat(java.toFile().setExecutable(true)).isTrue();
        return home;
    }

    private List<Path> installed() throws IOException {
        return list(folder.resolve("cache/jdk"));
    }

    /** What an interrupted or failed download must not leave behind. */
    private List<Path> leftovers() throws IOException {
        return list(folder.resolve("cache")).stream()
                .filter(path -> path.getFileName().toString().startsWith("jdk."))
                .toList();
    }

    private static List<Path> list(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return List.of();
        }
        try (var paths = Files.list(folder)) {
            return paths.toList();
        }
    }

    private Outcome roselle(Map<String, String> environment, String... arguments) throws Exception {
        return outcome(process(environment, arguments));
    }

    private Process process(Map<String, String> environment, String... arguments) throws IOException {
        return builder(environment, List.of(arguments)).start();
    }

    private ProcessBuilder builder(Map<String, String> environment, List<String> arguments) {
        var command = new ArrayList<>(List.of(folder.resolve("app/roselle").toString()));
        command.addAll(arguments);
        var builder = new ProcessBuilder(command);
        builder.environment().clear();
        builder.environment()
                .putAll(Map.of(
                        "PATH", pathWithoutJava(),
                        "HOME", folder.resolve("home").toString(),
                        "ROSELLE_CACHE", folder.resolve("cache").toString(),
                        "ROSELLE_JVM_FOLDERS", folder.resolve("no-jvm").toString(),
                        "ROSELLE_JDK_URL", served.url("/jdk.tar.gz")));
        builder.environment().putAll(environment);
        return builder;
    }

    /** The tools that the launcher needs, by links in a folder of their own: the system's folders may hold a java. */
    private String pathWithoutJava() {
        Path tools = folder.resolve("tools");
        if (!Files.exists(tools)) {
            try {
                Files.createDirectories(tools);
                for (String tool : List.of(
                        "sh",
                        "uname",
                        "readlink",
                        "mkdir",
                        "ln",
                        "rm",
                        "rmdir",
                        "mv",
                        "cat",
                        "cut",
                        "tr",
                        "sed",
                        "head",
                        "tar",
                        "gzip",
                        "sleep",
                        "ls",
                        "cksum",
                        "find",
                        "nice",
                        "ps",
                        "mkfifo",
                        "curl",
                        "wget",
                        "sha256sum",
                        "shasum")) {
                    for (String place : List.of("/usr/bin", "/bin")) {
                        Path program = Path.of(place, tool);
                        if (Files.isExecutable(program) && !Files.exists(tools.resolve(tool))) {
                            Files.createSymbolicLink(tools.resolve(tool), program.toRealPath());
                        }
                    }
                }
            } catch (IOException failure) {
                throw new UncheckedIOException(failure);
            }
        }
        return tools.toString();
    }

    private static Outcome outcome(Process process) throws Exception {
        process.getOutputStream().close();
        String out = new String(process.getInputStream().readAllBytes(), UTF_8);
        String err = new String(process.getErrorStream().readAllBytes(), UTF_8);
        assertThat(process.waitFor(180, TimeUnit.SECONDS)).isTrue();
        return new Outcome(process.exitValue(), out, err);
    }
}
