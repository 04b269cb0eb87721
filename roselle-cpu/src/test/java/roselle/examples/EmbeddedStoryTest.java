package roselle.examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

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
}
