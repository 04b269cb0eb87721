package roselle.gates;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The compiler's gates bite: the project's own build, with one planted source, fails and says why. */
@Tag("long")
final class CompilerGatesTest {
    private static final SourceTree PROJECT = SourceTree.ofThisProject();
    private static final String CLEAN = """
            package roselle.planted;

            /** A class with nothing wrong. */
            public final class Planted {
                private Planted() {}

                /** Half of the number, rounded down. */
                public static int half(int number) {
                    return number / 2;
                }
            }
            """;

    private record Build(int status, String log) {}

    @TempDir
    private Path folder = Path.of("");

    @BeforeEach
    void copyTheBuildWithoutTheSources() throws IOException {
        copy("pom.xml");
        copy(".mvn/jvm.config");
        Path parent = folder.resolve("pom.xml");
        String onlyOneModule = Files.readString(parent)
                .replaceAll("(?s)<modules>.*?</modules>", "<modules><module>planted</module></modules>");
        Files.writeString(parent, onlyOneModule);
        write("planted/pom.xml", """
                <project xmlns="http://maven.apache.org/POM/4.0.0">
                  <modelVersion>4.0.0</modelVersion>
                  <parent>
                    <groupId>io.github.roselle</groupId>
                    <artifactId>roselle-parent</artifactId>
                    <version>%s</version>
                  </parent>
                  <artifactId>planted</artifactId>
                  <dependencies>
                    <dependency>
                      <groupId>org.jspecify</groupId>
                      <artifactId>jspecify</artifactId>
                    </dependency>
                  </dependencies>
                </project>
                """.formatted(ReleaseVersions.ofThisBuild(SourceTree.ofThisProject())));
        write("planted/src/main/java/roselle/planted/package-info.java", """
                /** Faults. */
                @NullMarked
                package roselle.planted;

                import org.jspecify.annotations.NullMarked;
                """);
    }

    @Test
    void acceptsACleanSource() throws Exception {
        Build build = build(CLEAN);
        assertThat(build.status()).as(build.log()).isZero();
    }

    @Test
    void refusesAnotherFormat() throws Exception {
        assertRefused(CLEAN.replace("    public static", "  public  static"), "format violations");
    }

    @Test
    void refusesAWarningOfTheCompiler() throws Exception {
        assertRefused(
                body("public static java.util.List half(int number) {", "return java.util.List.of();"),
                "found raw type");
    }

    @Test
    void refusesABugThatErrorProneKnows() throws Exception {
        assertRefused(
                body("public static boolean half(int[] number) {", "return number.equals(new int[0]);"), "ArrayEquals");
    }

    @Test
    void refusesNullWhereNoneIsAllowed() throws Exception {
        assertRefused(body("public static String half(int number) {", "return null;"), "NullAway");
    }

    private static String body(String signature, String statement) {
        return CLEAN.replace("public static int half(int number) {", signature)
                .replace("return number / 2;", statement);
    }

    private void assertRefused(String source, String reason) throws Exception {
        assertThat(source).isNotEqualTo(CLEAN);
        Build build = build(source);
        assertThat(build.status()).as("the build's exit status").isNotZero();
        assertThat(build.log()).contains("Planted.java").contains(reason);
    }

    private Build build(String source) throws Exception {
        String maven = System.getProperty("roselle.maven.home", "");
        assumeThat(maven).as("the Maven that runs this test").isNotEmpty();
        write("planted/src/main/java/roselle/planted/Planted.java", source);
        Path log = folder.resolve("log");
        var builder = new ProcessBuilder(List.of(
                        maven + "/bin/mvn",
                        "-o",
                        "-B",
                        "-Dstyle.color=never",
                        "-Dmaven.repo.local=" + System.getProperty("roselle.maven.repository"),
                        "compile"))
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile());
        builder.environment().putAll(Map.of("JAVA_HOME", System.getProperty("java.home")));
        int status = builder.start().waitFor();
        return new Build(status, Files.readString(log, UTF_8));
    }

    private void copy(String file) throws IOException {
        write(file, PROJECT.text(Path.of(file)));
    }

    private void write(String file, String text) throws IOException {
        Path path = folder.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
    }
}
