package roselle.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.hub.BundledModel;

/**
 * Prints how long an application's first bean and its first token are apart, in JVMs of their own, by turns without and with an
 * archive of the application's classes: docs/guide/spring-ai.md tells what was measured.
 */
@Tag("manual")
class FirstTokenTest {
    private static final int TIMES = 5;

    @TempDir
    private static Path folder;

    private static String output(ProcessBuilder command) throws IOException, InterruptedException {
        Process process = command.redirectError(ProcessBuilder.Redirect.INHERIT).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
        return said.strip();
    }

    private static String start(String classPath, Path model, String... flags)
            throws IOException, InterruptedException {
        var command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--add-modules",
                "jdk.incubator.vector",
                "--enable-native-access=ALL-UNNAMED"));
        command.addAll(List.of(flags));
        command.addAll(List.of("-cp", classPath, FirstToken.class.getName(), model.toString()));
        return output(new ProcessBuilder(command));
    }

    private static void startSeveralTimes(Path model) throws IOException, InterruptedException {
        String classPath = jars();
        Path archive = folder.resolve("classes.jsa");
        start(classPath, model, "-XX:ArchiveClassesAtExit=" + archive, "-Xlog:disable");
        assertThat(archive).exists();
        for (int time = 0; time < TIMES; time++) {
            tell(model, "alone", start(classPath, model));
            tell(model, "archived", start(classPath, model, "-XX:SharedArchiveFile=" + archive));
        }
    }

    private static void tell(Path model, String how, String said) {
        String last = said.substring(said.lastIndexOf('\n') + 1);
        assertThat(last).startsWith("first bean to ready");
        System.out.println(model.getFileName() + ", " + how + ": " + last);
    }

    /** The class path as an application has it: no archive is made of classes in folders. */
    private static String jars() throws IOException {
        var jars = new ArrayList<String>();
        for (String part : System.getProperty("java.class.path").split(File.pathSeparator)) {
            Path path = Path.of(part);
            if (Files.isDirectory(path)) {
                jars.add(jar(path, folder.resolve(jars.size() + ".jar")).toString());
            } else if (Files.exists(path)) {
                jars.add(part);
            }
        }
        return String.join(File.pathSeparator, jars);
    }

    private static Path jar(Path classes, Path jar) throws IOException {
        try (Stream<Path> files = Files.walk(classes);
                OutputStream out = Files.newOutputStream(jar);
                var entries = new JarOutputStream(out)) {
            for (Path file : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
                entries.putNextEntry(new JarEntry(classes.relativize(file).toString()));
                Files.copy(file, entries);
            }
        }
        return jar;
    }

    @Test
    void demo() throws IOException, InterruptedException {
        startSeveralTimes(BundledModel.DEMO.unpackInto(Path.of("target", "models")));
    }

    @Test
    void smollm2() throws IOException, InterruptedException {
        startSeveralTimes(Path.of(output(new ProcessBuilder("../tools/smollm2.sh"))));
    }
}
