package roselle.gates;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The rules on files hold, and each finds what is planted for it. Planted words are written in two halves. */
final class SourceRulesTest {
    private static final SourceTree PROJECT = SourceTree.ofThisProject();

    @TempDir
    private Path folder = Path.of("");

    @Test
    void readsTheWholeProject() {
        assertThat(PROJECT.files())
                .contains(Path.of("pom.xml"), Path.of("roselle-cli/src/main/java/roselle/cli/Main.java"))
                .noneMatch(file -> file.toString().contains("target"));
    }

    @Test
    void noFileIsTooLong() {
        assertThat(SourceRules.tooLong(PROJECT)).isEmpty();
    }

    @Test
    void noFileNamesTheHostOfARegistry() {
        assertThat(SourceRules.registryHosts(PROJECT)).isEmpty();
    }

    @Test
    void noFileHasAPathOfOneMachine() {
        assertThat(SourceRules.machinePaths(PROJECT)).isEmpty();
    }

    @Test
    void noMarkIsLeftWithoutAReason() {
        assertThat(SourceRules.bareTodos(PROJECT)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"Long.java", "kernel.cu", "chat.js"})
    void findsAFileThatIsTooLong(String name) throws IOException {
        Files.writeString(folder.resolve(name), "//\n".repeat(SourceRules.MAX_LINES));
        assertThat(SourceRules.tooLong(new SourceTree(folder))).isEmpty();
        assertThat(violations(name, "//\n".repeat(SourceRules.MAX_LINES + 1), SourceRules::tooLong))
                .singleElement()
                .asString()
                .contains(name, "601");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"https://repo1.ma" + "ven.org/maven2", "https://py" + "pi.org/simple", "registry.np" + "mjs.org"
            })
    void findsTheHostOfARegistry(String host) throws IOException {
        assertThat(violations("build.xml", "<a>\n" + host, SourceRules::registryHosts))
                .singleElement()
                .asString()
                .startsWith("build.xml:2 ");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"/ho" + "me/anna/models\"",
                "cd /wo" + "rk/main",
                "(/Us" + "ers/anna/x)",
                "C:\\Us" + "ers\\anna"
            })
    void findsAPathOfOneMachine(String path) throws IOException {
        assertThat(violations("notes.md", path, SourceRules::machinePaths)).hasSize(1);
    }

    @Test
    void theServerSaysWordsOfAnApiInItsDialectAlone() {
        assertThat(PROJECT.files())
                .contains(Path.of("roselle-server/src/main/java/roselle/server/http/Conventions.java"));
        assertThat(SourceRules.wordsOfApis(PROJECT)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"invalid_request_error", "x-ratelimit-limit-tokens", "[DONE]", "context_length_exceeded"})
    void findsAWordOfAnApiWhereTheServerIsNeutral(String word) throws IOException {
        assertThat(serverSource("http/Fault.java", word))
                .singleElement()
                .asString()
                .contains("Fault.java:1 ");
        assertThat(serverSource("Server.java", word)).hasSize(2);
    }

    @Test
    void allowsWordsOfAnApiInItsDialect() throws IOException {
        assertThat(serverSource("openai/common/Words.java", "invalid_request_error"))
                .isEmpty();
    }

    private List<String> serverSource(String name, String text) throws IOException {
        String file = "roselle-server/src/main/java/roselle/server/" + name;
        Files.createDirectories(folder.resolve(file).getParent());
        return violations(file, text, SourceRules::wordsOfApis);
    }

    @ParameterizedTest
    @ValueSource(strings = {"~/.jdks/25", "/usr/lib/jvm", "$HOME/work/x", "https://example.org/home/index/a"})
    void allowsPathsThatMeanTheSameEverywhere(String path) throws IOException {
        assertThat(violations("notes.md", path, SourceRules::machinePaths)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"// TO" + "DO", "// TO" + "DO: later", "# FIX" + "ME this"})
    void findsAMarkWithoutAReason(String mark) throws IOException {
        assertThat(violations("Some.java", mark, SourceRules::bareTodos)).hasSize(1);
    }

    @Test
    void allowsAMarkWithAReason() throws IOException {
        String mark = "// TO" + "DO: drop this when JDK 26 fixes the leak";
        assertThat(violations("Some.java", mark, SourceRules::bareTodos)).isEmpty();
    }

    private List<String> violations(String name, String text, Function<SourceTree, List<String>> rule)
            throws IOException {
        Files.writeString(folder.resolve(name), text);
        return rule.apply(new SourceTree(folder));
    }
}
