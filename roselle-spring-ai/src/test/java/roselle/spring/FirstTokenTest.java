package roselle.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import roselle.hub.BundledModel;

/** Prints how long an application's first bean and its first token are apart, in JVMs of their own: docs/guide/spring-ai.md tells what was measured. */
@Tag("manual")
class FirstTokenTest {
    private static final int TIMES = 5;

    private static String output(ProcessBuilder command) throws IOException, InterruptedException {
        Process process = command.redirectError(ProcessBuilder.Redirect.INHERIT).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
        return said.strip();
    }

    private static void start(Path model) throws IOException, InterruptedException {
        for (int time = 0; time < TIMES; time++) {
            String said = output(new ProcessBuilder(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "--add-modules",
                    "jdk.incubator.vector",
                    "--enable-native-access=ALL-UNNAMED",
                    "-cp",
                    System.getProperty("java.class.path"),
                    FirstToken.class.getName(),
                    model.toString()));
            String last = said.substring(said.lastIndexOf('\n') + 1);
            assertThat(last).startsWith("first bean to ready");
            System.out.println(model.getFileName() + ": " + last);
        }
    }

    @Test
    void demo() throws IOException, InterruptedException {
        start(BundledModel.DEMO.unpackInto(Path.of("target", "models")));
    }

    @Test
    void smollm2() throws IOException, InterruptedException {
        start(Path.of(output(new ProcessBuilder("../tools/smollm2.sh"))));
    }
}
