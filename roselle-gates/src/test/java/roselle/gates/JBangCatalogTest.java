package roselle.gates;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The catalogue that {@code jbang NAME@roselle/roselle} reads, and its scripts, run as JBang runs them but for finding the jars. */
final class JBangCatalogTest {
    private static final Path ROOT = SourceTree.ofThisProject().root();

    private static List<Path> scripts() throws IOException {
        JsonNode aliases = JsonMapper.shared()
                .readTree(Files.readString(ROOT.resolve("jbang-catalog.json")))
                .at("/aliases");
        return aliases.values().stream()
                .map(alias -> ROOT.resolve(alias.at("/script-ref").stringValue()))
                .toList();
    }

    @Test
    void namesScriptsOfThisVersion() throws IOException {
        String version = ReleaseVersions.ofThisBuild(SourceTree.ofThisProject());
        assertThat(scripts()).isNotEmpty().allSatisfy(script -> {
            assertThat(script).isExecutable();
            assertThat(options(script, "//DEPS ")).contains("io.github.roselle:roselle:" + version);
            assertThat(options(script, "//JAVA ")).containsExactly("25+");
        });
    }

    @Test
    @Tag("long")
    void scriptsRun() throws IOException, InterruptedException {
        for (Path script : scripts()) {
            assertThat(run(script, "What is 12 + 30?")).as(script.toString()).contains("42");
        }
    }

    private static String run(Path script, String prompt) throws IOException, InterruptedException {
        var command = new ArrayList<String>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(options(script, "//RUNTIME_OPTIONS "));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), script.toString(), prompt));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).isZero();
        return printed;
    }

    private static List<String> options(Path script, String mark) throws IOException {
        return Files.readAllLines(script).stream()
                .filter(line -> line.startsWith(mark))
                .flatMap(line -> List.of(line.substring(mark.length()).strip().split(" ")).stream())
                .toList();
    }
}
