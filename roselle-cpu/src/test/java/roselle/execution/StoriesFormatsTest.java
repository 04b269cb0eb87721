package roselle.execution;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.cpu.CpuDevice;
import roselle.cpu.option.CpuOptions;
import roselle.cpu.option.Precision;
import roselle.model.architecture.Architectures;
import roselle.tensor.DataType;
import roselle.testing.ConvertedStories;
import roselle.testing.SharedData;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The story teller in other number formats stays near to what it is in float32.
 *
 * <p>Its rows have 64 or 172 numbers: matrices of the latter stay float32 in formats with blocks of 32, and formats with
 * blocks of 256 fit none.
 */
@Tag("shared-data")
class StoriesFormatsTest {
    @TempDir
    private Path folder;

    /** The logits of both stories, whole, and the greedy continuation of both prompts. */
    private static final class Told {
        final float[][][] logits; // [stories, tokens, vocabulary]
        final int[][] greedy; // [stories, tokens]

        Told(int stories) {
            logits = new float[stories][][];
            greedy = new int[stories][];
        }
    }

    @ParameterizedTest
    @CsvSource({
        "F16, 0.006, 176",
        "BF16, 0.03, 150",
        "Q8_0, 0.1, 90",
        "Q5_1, 0.6, 12",
        "Q5_0, 0.8, 20",
        "Q4_1, 1.2, 1",
        "Q4_0, 1.2, 3"
    })
    void staysWithinADistanceOfFloat32(DataType type, double mostMean, int leastGreedy) throws IOException {
        Told original = told(SharedData.path(ConvertedStories.ORIGINAL));
        Told converted = told(ConvertedStories.write(type, folder));
        double mean = meanDifference(original.logits, converted.logits);
        int same = Math.min(same(original, converted, 0), same(original, converted, 1));
        System.out.println("stories " + type + " mean difference " + mean + ", greedy tokens " + same);
        assertThat(mean).as("mean difference of a logit").isPositive().isLessThan(mostMean);
        assertThat(same).as("greedy tokens that agree").isGreaterThanOrEqualTo(leastGreedy);
    }

    private static Told told(Path model) throws IOException {
        JsonNode stories = new JsonMapper()
                .readTree(SharedData.path("stories260k/expected.json").toFile());
        var told = new Told(stories.size());
        try (Checkpoint checkpoint = Checkpoints.open(model);
                var backend = new CpuDevice(CpuOptions.of(1).with(Precision.F32));
                var sequence = SingleSequence.open(checkpoint, Architectures.read(checkpoint), backend, 512, 512)) {
            for (int i = 0; i < told.greedy.length; i++) {
                int[] prompt = integers(stories.get(i).get("prompt_ids"));
                int[] answer = integers(stories.get(i).get("greedy_ids"));
                int[] story = Arrays.copyOf(prompt, prompt.length + answer.length);
                System.arraycopy(answer, 0, story, prompt.length, answer.length);
                sequence.restart();
                told.logits[i] = sequence.logits(story, 512);
                sequence.restart();
                told.greedy[i] = sequence.greedy(prompt, 512, answer.length);
            }
        }
        return told;
    }

    private static double meanDifference(float[][][] some, float[][][] others) {
        double sum = 0;
        long count = 0;
        for (int story = 0; story < some.length; story++) {
            for (int token = 0; token < some[story].length; token++) {
                for (int i = 0; i < some[story][token].length; i++) {
                    sum += Math.abs((double) some[story][token][i] - others[story][token][i]);
                    count++;
                }
            }
        }
        return sum / count;
    }

    private static int same(Told some, Told others, int story) {
        int mismatch = Arrays.mismatch(some.greedy[story], others.greedy[story]);
        return mismatch < 0 ? some.greedy[story].length : mismatch;
    }

    private static int[] integers(JsonNode array) {
        var numbers = new int[array.size()];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = array.get(i).intValue();
        }
        return numbers;
    }
}
