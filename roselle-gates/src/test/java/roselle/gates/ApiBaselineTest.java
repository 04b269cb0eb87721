package roselle.gates;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Programs that were written for the last release go on with the next. */
final class ApiBaselineTest {
    private static final SourceTree PROJECT = SourceTree.ofThisProject();

    /** Where this build has its classes: {@code target}, or {@code target/quick}. */
    private static Path buildFolder() {
        return PROJECT.root()
                .resolve("roselle-gates")
                .relativize(Path.of(ApiBaselineTest.class
                                .getProtectionDomain()
                                .getCodeSource()
                                .getLocation()
                                .getPath())
                        .getParent());
    }

    @Test
    void keepsWhatTheLastReleaseExported() throws IOException {
        Set<String> present = ApiBaseline.present(PROJECT, buildFolder());
        if (Boolean.getBoolean("roselle.writeReleasedApi")) {
            write(present);
        }
        assertThat(ApiBaseline.breaks(
                        ApiBaseline.read(PROJECT, ApiBaseline.RELEASED),
                        present,
                        ApiBaseline.read(PROJECT, ApiBaseline.ACCEPTED)))
                .as(
                        "the API of the last release is kept: bring back what is gone (a method that calls the new one will do), or give"
                                + " a new method of an interface a body; if the break is meant, write the line into %s, and what users"
                                + " change into CHANGELOG.md",
                        ApiBaseline.ACCEPTED)
                .isEmpty();
    }

    /** What a release does when it is made; the command stands in docs/releasing.md. */
    private static void write(Set<String> present) throws IOException {
        String head = "# What version " + ReleaseVersions.ofThisBuild(PROJECT) + " exports: see ApiBaseline.\n";
        Files.writeString(PROJECT.root().resolve(ApiBaseline.RELEASED), head + String.join("\n", present) + "\n");
        Files.writeString(
                PROJECT.root().resolve(ApiBaseline.ACCEPTED),
                "# Lines of the API that are gone or new since the last release on purpose, with the reason above each.\n");
    }

    @Test
    void acceptsNothingInVain() {
        var needless = ApiBaseline.read(PROJECT, ApiBaseline.ACCEPTED);
        Set<String> released = ApiBaseline.read(PROJECT, ApiBaseline.RELEASED);
        Set<String> present = ApiBaseline.present(PROJECT, buildFolder());
        needless.removeIf(line -> released.contains(line) != present.contains(line));
        assertThat(needless)
                .as("lines of %s that nothing differs in", ApiBaseline.ACCEPTED)
                .isEmpty();
    }

    private static final String BEFORE = """
            package p;
            public class Engine {
                public static final int MOST = 1;
                protected Engine() {}
                public String ask(int[] ids, Engine other) { return ""; }
                void internal() {}
                public interface Listener { void heard(String text); default void done() {} }
                public sealed interface Event permits A, B {}
                public record A(int x) implements Event {}
                public record B() implements Event {}
                static class Hidden { public void method() {} }
            }
            """;

    @Test
    void findsWhatPlantedChangesBreak(@TempDir Path folder) throws IOException {
        Set<String> before = compiled(folder.resolve("before"), BEFORE);
        assertThat(before)
                .contains(
                        "p.Engine = class",
                        "p.Engine.MOST : int final static",
                        "p.Engine.<init>() : void protected",
                        "p.Engine.ask(int[],p.Engine) : String",
                        "p.Engine$Event = interface permits p.Engine$A, p.Engine$B",
                        "p.Engine$Listener.heard(String) : void abstract")
                .noneMatch(line -> line.contains("internal") || line.contains("Hidden"));
        assertThat(ApiBaseline.breaks(before, before, Set.of())).isEmpty();

        Set<String> added = compiled(folder.resolve("added"), BEFORE.replace("void internal", "public void external"));
        assertThat(ApiBaseline.breaks(before, added, Set.of())).isEmpty();

        Set<String> other = compiled(
                folder.resolve("other"),
                BEFORE.replace("String ask(int[] ids, Engine other) { return \"\"; }", "int ask() { return 1; }")
                        .replace("default void done() {}", "void done(); void more();")
                        .replace("permits A, B", "permits A, B, C")
                        .replace("static class Hidden", "public record C() implements Event {} static class Hidden"));
        assertThat(ApiBaseline.breaks(before, other, Set.of("p.Engine.ask(int[],p.Engine) : String")))
                .containsExactlyInAnyOrder(
                        "released and gone or changed: p.Engine$Event = interface permits p.Engine$A, p.Engine$B",
                        "released and gone or changed: p.Engine$Listener.done() : void",
                        "new, and whoever implements the type does not have it: p.Engine$Listener.done() : void abstract",
                        "new, and whoever implements the type does not have it: p.Engine$Listener.more() : void abstract");
    }

    private static Set<String> compiled(Path folder, String source) throws IOException {
        Path file = Files.createDirectories(folder).resolve("Engine.java");
        Files.writeString(file, source);
        int status = ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, "-proc:none", "-d", folder.toString(), file.toString());
        assertThat(status).isZero();
        return ApiSignatures.of(folder);
    }
}
