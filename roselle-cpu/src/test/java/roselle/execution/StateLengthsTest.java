package roselle.execution;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.backend.Device;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.cpu.CpuDevice;
import roselle.cpu.option.CpuOptions;
import roselle.cpu.option.Precision;
import roselle.model.architecture.Architectures;
import roselle.tensor.Dequantizer;
import roselle.tensor.Tensor;

/** Models whose layers keep states compute what transformers' full forward does, at lengths around the ends of pages and chunks. */
class StateLengthsTest {
    private static final Path RESOURCES = Path.of("../roselle-engine/src/test/resources");
    private static final int[] LENGTHS = {1, 15, 16, 17, 63, 64, 65, 130, 1000};
    private static final double TOLERANCE = 5e-4;
    private static final int GREEDY = 8;

    @ParameterizedTest
    @ValueSource(strings = {"tiny-models/qwen3_5", "tiny-models/lfm2", "tiny-models/deepseek_v4"})
    void logitsAndGreedyTokensAreTheReferences(String model) {
        check(model, new int[] {64});
    }

    /** Each model of which there are expected logits of such lengths. */
    static List<String> models() throws IOException {
        try (Stream<Path> lengths = Files.list(RESOURCES.resolve("state-lengths"))) {
            return lengths.map(file -> String.valueOf(file.getFileName()).replace(".safetensors", ""))
                    .map(name -> Files.isDirectory(RESOURCES.resolve("tiny-models/" + name))
                            ? "tiny-models/" + name
                            : "similar-models/" + name)
                    .sorted()
                    .toList();
        }
    }

    @Tag("long")
    @ParameterizedTest
    @MethodSource("models")
    void logitsAndGreedyTokensAreTheReferencesHoweverAPromptIsCut(String model) {
        check(model, new int[] {1, 7, 63, 64, 65, 512});
    }

    private static void check(String model, int[] chunks) {
        Path folder = RESOURCES.resolve(model);
        try (Checkpoint checkpoint = Checkpoints.open(folder);
                Checkpoint expected =
                        Checkpoints.open(RESOURCES.resolve("state-lengths/" + folder.getFileName() + ".safetensors"));
                Device device = new CpuDevice(CpuOptions.of(1).with(Precision.F32));
                var sequence = SingleSequence.open(checkpoint, Architectures.read(checkpoint), device, 512, 1024)) {
            for (int i = 0; i < LENGTHS.length; i++) {
                int[] input = integers(expected.tensor("input_" + i));
                assertThat(input).hasSize(LENGTHS[i]);
                float[][] logits = logits(sequence, input, 512);
                check(expected.tensor("logits_" + i), logits);
                int[] greedy = integers(expected.tensor("greedy_" + i));
                assertThat(greedy(sequence, input, 512))
                        .as("greedy tokens after %d", LENGTHS[i])
                        .isEqualTo(greedy);
                for (int chunk : chunks) {
                    assertThat(chunk >= input.length || Arrays.deepEquals(logits(sequence, input, chunk), logits))
                            .as("the same bits of %d tokens in chunks of %d", input.length, chunk)
                            .isTrue();
                }
            }
        }
    }

    private static float[][] logits(SingleSequence sequence, int[] input, int chunk) {
        sequence.restart();
        return sequence.logits(input, chunk);
    }

    private static int[] greedy(SingleSequence sequence, int[] input, int chunk) {
        sequence.restart();
        return sequence.greedy(input, chunk, GREEDY);
    }

    /** The reference has the last rows alone. */
    private static void check(Tensor reference, float[][] logits) {
        int rows = Math.toIntExact(reference.shape().rows());
        var expected = new float[logits[0].length];
        for (int row = 0; row < rows; row++) {
            Dequantizer.row(reference, row, expected, 0);
            float[] actual = logits[logits.length - rows + row];
            for (int i = 0; i < expected.length; i++) {
                assertThat(Math.abs(actual[i] - expected[i]))
                        .as("logit %d, %d rows before the end of %d tokens", i, rows - row, logits.length)
                        .isLessThanOrEqualTo((float) TOLERANCE);
            }
        }
    }

    private static int[] integers(Tensor tensor) {
        float[] numbers = Dequantizer.all(tensor);
        var integers = new int[numbers.length];
        Arrays.setAll(integers, i -> (int) numbers[i]);
        return integers;
    }
}
