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
import roselle.hub.BundledModel;

/** A program of a page, compiled and run by itself with the demo model beside it. */
final class GuideProgram {
    /** Roselle's artifacts and what they bring. */
    private static final String LIBRARIES = Arrays.stream(
                    System.getProperty("java.class.path").split(File.pathSeparator))
            .filter(entry ->
                    entry.matches(".*(roselle-(all|api|text|grammar|engine|cpu|hub|cuda)/target|jackson|jspecify).*"))
            .filter(entry -> !entry.contains("test-classes") && !entry.endsWith("-tests.jar"))
            .collect(Collectors.joining(File.pathSeparator));

    private final Path folder;
    private final String main;
    private final Path source;

    /** How a program ended. */
    record Ended(int status, String said) {}

    /** @param main the name of the class, in its package */
    GuideProgram(Path folder, String main, String code) throws IOException {
        this.folder = folder;
        this.main = main;
        source = folder.resolve("source/" + main.replace('.', '/') + ".java");
        Files.createDirectories(source.getParent());
        Files.writeString(source, code);
        Files.copy(BundledModel.DEMO.unpackInto(folder), folder.resolve("model.gguf"));
    }

    /** The first block of Java of a page. */
    static String of(Path page) {
        String text = SourceTree.ofThisProject().text(page);
        String code = text.substring(text.indexOf("```java\n") + 8);
        return code.substring(0, code.indexOf("```"));
    }

    private void compile(String path, Path... sources) {
        var arguments = new ArrayList<>(
                List.of(path, LIBRARIES, "-d", folder.resolve("classes").toString()));
        for (Path each : sources) {
            arguments.add(each.toString());
        }
        var compiler = ToolProvider.getSystemJavaCompiler();
        assertThat(compiler.run(null, null, null, arguments.toArray(new String[0])))
                .isZero();
    }

    private Ended run(String... flags) throws IOException, InterruptedException {
        var command = new ArrayList<String>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(flags));
        Process process = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), UTF_8);
        return new Ended(process.waitFor(), said);
    }

    private String path() {
        return LIBRARIES + File.pathSeparator + folder.resolve("classes");
    }

    Ended runAsModule(String descriptor) throws IOException, InterruptedException {
        Path file = folder.resolve("source/module-info.java");
        Files.writeString(file, descriptor);
        compile("-p", file, source);
        return run("--enable-native-access=roselle.cpu,roselle.cuda", "-p", path(), "-m", "app/" + main);
    }

    Ended runOnTheClassPath() throws IOException, InterruptedException {
        compile("-cp", source);
        return run("--add-modules", "jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED", "-cp", path(), main);
    }
}
