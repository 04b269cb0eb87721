package roselle.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.cli.Main;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code roselle run} on a trained model: the stories that another implementation tells. */
@Tag("shared-data")
final class RunStoryTest {
    private static final Path FOLDER = Path.of(
                    Optional.ofNullable(System.getenv("ROSELLE_SHARED_DATA")).orElse("../../shared/data"))
            .resolve("stories260k");

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void tellsTheExpectedStory(int index) {
        assumeTrue(Files.exists(FOLDER), () -> FOLDER + " is not there");
        JsonNode story = JsonMapper.shared()
                .readTree(FOLDER.resolve("expected.json").toFile())
                .get(index);
        String prompt = story.get("prompt").stringValue();
        assertThat(run("text", prompt)).startsWith(prompt + story.get("text").stringValue());
        assertThat(run("ids", prompt))
                .startsWith(story.get("greedy_ids").toString().replace("]", ","));
    }

    private static String run(String output, String prompt) {
        var out = new StringWriter();
        var err = new StringWriter();
        String model = FOLDER.resolve("stories260K.gguf").toString();
        String[] arguments = {"run", model, "--raw", "--temperature", "0", "--output", output, prompt};
        int status = Main.commandLine(arguments)
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err))
                .execute(arguments);
        assertThat(status).as(err.toString()).isZero();
        return out.toString();
    }
}
