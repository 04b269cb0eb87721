package roselle.execution;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.cpu.CpuDevice;
import roselle.cpu.option.CpuOptions;
import roselle.cpu.option.Precision;
import roselle.model.architecture.Architectures;
import roselle.testing.SharedData;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A real model, trained on short stories and read from GGUF, tells them as the reference does. */
@Tag("shared-data")
class StoriesTest {
    @Test
    void tellsTheExpectedStoriesGreedily() throws IOException {
        Path model = SharedData.path("stories260k/stories260K.gguf");
        JsonNode stories = new JsonMapper()
                .readTree(SharedData.path("stories260k/expected.json").toFile());
        try (Checkpoint checkpoint = Checkpoints.open(model);
                var backend = new CpuDevice(CpuOptions.all().with(Precision.F32));
                var sequence = SingleSequence.open(checkpoint, Architectures.read(checkpoint), backend, 16, 512)) {
            for (JsonNode story : stories) {
                int[] prompt = integers(story.get("prompt_ids"));
                int[] expected = integers(story.get("greedy_ids"));
                sequence.restart();
                assertThat(sequence.greedy(prompt, 3, expected.length)).containsExactly(expected);
            }
        }
    }

    private static int[] integers(JsonNode array) {
        var numbers = new int[array.size()];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = array.get(i).intValue();
        }
        return numbers;
    }
}
