package roselle.gates;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.hub.BundledModel;

/** The program of docs/guide/embedding.md, as it is written there, compiles and runs with the flags of that page. */
final class EmbeddingGuideTest {
    private static final String IMPORTS = """
            import java.nio.file.Path;
            import roselle.api.GenerationEvent.TokenGenerated;
            import roselle.api.GenerationRequest;
            import roselle.engine.Engine;
            import roselle.engine.EngineConfig;
            """;

    /** Roselle's artifacts and what they bring. */
    private static final String LIBRARIES = Arrays.stream(
                    System.getProperty("java.class.path").split(File.pathSeparator))
            .filter(entry ->
                    entry.matches(".*(roselle-(all|api|text|grammar|engine|cpu|hub|cuda)/target|jackson|jspecify).*"))
            .filter(entry -> !entry.contains("test-classes") && !entry.endsWith("-tests.jar"))
            .collect(Collectors.joining(File.pathSeparator));

    @TempDir
    private Path folder = Path.of("");

    private Path program = Path.of("");

    @BeforeEach
    void writeTheProgram() throws IOException {
        String page = SourceTree.ofThisProject().text(Path.of("docs/guide/embedding.md"));
        String code = page.substring(page.indexOf("```java\n") + 8);
        String body = code.substring(0, code.indexOf("```"));
        program = Files.createDirectories(folder.resolve("source/app")).resolve("Story.java");
        Files.writeString(
                program,
                "package app;\n" + IMPORTS + "class Story {\npublic static void main(String[] arguments) {\n" + body
                        + "}\n}\n");
        Files.copy(BundledModel.DEMO.unpackInto(folder), folder.resolve("model.gguf"));
    }

    private void compile(String path, Path... sources) {
        var arguments = new ArrayList<>(
                List.of(path, LIBRARIES, "-d", folder.resolve("classes").toString()));
        for (Path source : sources) {
            arguments.add(source.toString());
        }
        var compiler = ToolProvider.getSystemJavaCompiler();
        assertThat(compiler.run(null, null, null, arguments.toArray(new String[0])))
                .isZero();
    }

    private String run(String... flags) throws IOException, InterruptedException {
        var command = new ArrayList<String>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(flags));
        Process process = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
        return said;
    }

    @Test
    void worksAsANamedModule() throws IOException, InterruptedException {
        Path descriptor = folder.resolve("source/module-info.java");
        Files.writeString(descriptor, "module app { requires roselle; }\n");
        compile("-p", descriptor, program);
        String path = LIBRARIES + File.pathSeparator + folder.resolve("classes");
        assertThat(run("--enable-native-access=roselle.cpu,roselle.cuda", "-p", path, "-m", "app/app.Story"))
                .contains("fox")
                .doesNotContain("--enable-native-access");
    }

    @Test
    void worksOnTheClassPath() throws IOException, InterruptedException {
        compile("-cp", program);
        String path = LIBRARIES + File.pathSeparator + folder.resolve("classes");
        assertThat(run(
                        "--add-modules",
                        "jdk.incubator.vector",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        path,
                        "app.Story"))
                .contains("fox")
                .doesNotContain("--enable-native-access");
    }
}
