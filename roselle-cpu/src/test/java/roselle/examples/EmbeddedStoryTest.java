package roselle.examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import roselle.testing.ChildJvm;

class EmbeddedStoryTest {
    @Test
    void tellsAStory() {
        var told = new ByteArrayOutputStream();
        EmbeddedStory.tell(
                Path.of("../roselle-engine/src/test/resources/demo-model"),
                "Tell me a story about a fox.",
                new PrintStream(told, true, UTF_8));
        assertThat(told.toString(UTF_8)).contains("fox").endsWith(".");
    }

    /** The program in a JVM of its own. */
    static final class Story {
        private Story() {}

        public static void main(String[] arguments) {
            EmbeddedStory.tell(Path.of(arguments[0]), arguments[1], System.out);
        }
    }

    @Test
    void namesTheFlagOfJavaThatIsMissing() {
        var result =
                ChildJvm.runPlainly(List.of(), Story.class, "../roselle-engine/src/test/resources/demo-model", "Hello");
        assertThat(result.status()).isNotZero();
        assertThat(result.said())
                .contains("DeviceException", "start it with --add-modules jdk.incubator.vector")
                .doesNotContain("NoClassDefFoundError");
    }
}
