package roselle.quantization.recipe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.api.CheckpointException;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.gguf.GgufWriter;
import roselle.checkpoint.path.Checkpoints;
import roselle.tensor.DataType;
import roselle.tensor.Dequantizer;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

class ConversionTest {
    private static final Recipe Q4_K = new Recipe(Mix.Q4_K_S, List.of(), true, false);

    @TempDir
    private Path folder;

    @Test
    void writesAModelThatHasTheKeysAndNearlyTheNumbers() throws IOException {
        Path source = source(1f);
        var rule = new Recipe.Rule(Pattern.compile("ffn_.*"), DataType.Q8_0);
        Path target = convert(source, new Recipe(Mix.Q4_K_S, List.of(rule), true, false), null, 2);
        try (Checkpoint before = Checkpoints.open(source);
                Checkpoint after = Checkpoints.open(target)) {
            assertThat(after.config().strings("tokenizer.ggml.tokens")).containsExactly("a", "bc", "ä");
            assertThat(after.config().numbers("tokenizer.ggml.scores")).containsExactly(1f, -2f, 0.5f);
            assertThat(after.config().flag("tokenizer.ggml.add_bos_token", false))
                    .isTrue();
            assertThat(after.config().integer("general.file_type")).isEqualTo(14);
            assertThat(roselle.engine.ModelFacts.of(after).quantization()).isEqualTo("Q4_K_S");
            assertThat(after.tensors().keySet())
                    .containsExactlyElementsOf(before.tensors().keySet());
            assertThat(after.tensor("blk.0.attn_norm.weight").type()).isEqualTo(DataType.F32);
            assertThat(after.tensor("blk.0.attn_v.weight").type()).isEqualTo(DataType.Q4_K);
            assertThat(after.tensor("blk.0.ffn_down_exps.weight").type()).isEqualTo(DataType.Q8_0);
            for (Tensor tensor : before.tensors().values()) {
                Tensor converted = after.tensor(tensor.name());
                assertThat(converted.shape()).isEqualTo(tensor.shape());
                float[] is = Dequantizer.all(converted);
                float[] was = Dequantizer.all(tensor);
                for (int i = 0; i < is.length; i++) {
                    assertThat(is[i]).isBetween(was[i] - 0.3f, was[i] + 0.3f);
                }
            }
        }
        assertThat(folder).isDirectoryNotContaining("glob:**.part*");
    }

    @Test
    void goesOnWhereItStoppedAndEndsWithTheSameBytes() throws IOException {
        Path source = source(1f);
        byte[] whole = Files.readAllBytes(convert(source, Q4_K, null, 1));
        Path target = folder.resolve("stopped.gguf");
        assertThatThrownBy(() -> run(source, target, Q4_K, null, 2, (index, tensor, isDone) -> {
                    if (index == 2) {
                        throw new IllegalStateException("stopped");
                    }
                }))
                .hasMessage("stopped");
        assertThat(target).doesNotExist();
        var done = new ArrayList<Integer>();
        run(source, target, Q4_K, null, 2, (index, tensor, isDone) -> {
            if (isDone) {
                done.add(index);
            }
        });
        assertThat(done).containsExactly(0, 1);
        assertThat(Files.readAllBytes(target)).isEqualTo(whole);
    }

    @Test
    void beginsAnewWhereThePartIsOfAnotherModel() throws IOException {
        Path source = source(1f);
        Path target = folder.resolve("stopped.gguf");
        assertThatThrownBy(() -> run(source, target, Q4_K, null, 1, (index, tensor, isDone) -> {
                    if (index == 3) {
                        throw new IllegalStateException("stopped");
                    }
                }))
                .hasMessage("stopped");
        var other = new Recipe(Mix.Q5_K_S, List.of(), true, false);
        run(
                source,
                target,
                other,
                null,
                1,
                (index, tensor, isDone) -> assertThat(isDone).isFalse());
        assertThat(Files.readAllBytes(target)).isEqualTo(Files.readAllBytes(convert(source, other, null, 1)));
    }

    @Test
    void refusesNumbersThatAreNone() throws IOException {
        Path source = source(Float.NaN);
        assertThatThrownBy(() -> convert(source, Q4_K, null, 1))
                .isInstanceOf(CheckpointException.class)
                .hasMessage("tensor output.weight has the number NaN in row 3, column 7;"
                        + " only finite numbers can be converted");
    }

    @Test
    void quantizesNothingTwiceUnlessItMay() throws IOException {
        Path quantized = convert(source(1f), Q4_K, null, 1);
        assertThatThrownBy(() -> convert(quantized, new Recipe(Mix.Q8_0, List.of(), false, false), null, 1))
                .isInstanceOf(CheckpointException.class)
                .hasMessageContaining("is q4_k; what is quantized already loses more")
                .hasMessageContaining("--allow-requantize");
        convert(quantized, new Recipe(Mix.Q8_0, List.of(), false, true), null, 1);
    }

    @Test
    void mindsTheColumnsOfEachExpertThatMatter() throws IOException {
        Path source = source(1f);
        var sums = new float[2 * 256];
        Arrays.fill(sums, 1e-3f);
        sums[5] = 1000; // of the first expert
        Path matrix = folder.resolve("imatrix.gguf");
        Files.write(
                matrix,
                new GgufWriter()
                        .put("general.type", "imatrix")
                        .put("imatrix.datasets", List.of("text"))
                        .tensor(floats("blk.0.ffn_down_exps.weight.in_sum2", sums, 2, 256))
                        .tensor(floats("blk.0.ffn_down_exps.weight.counts", new float[] {2, 4}, 2, 1))
                        .toBytes());
        Path plain = convert(source, Q4_K, null, 1);
        Path weighted = folder.resolve("weighted.gguf");
        try (Checkpoint file = Checkpoints.open(matrix)) {
            run(source, weighted, Q4_K, ImportanceMatrix.of(file), 2, (index, tensor, isDone) -> {});
        }
        String name = "blk.0.ffn_down_exps.weight";
        try (Checkpoint a = Checkpoints.open(source);
                Checkpoint b = Checkpoints.open(plain);
                Checkpoint c = Checkpoints.open(weighted)) {
            float[] was = Dequantizer.all(a.tensor(name));
            assertThat(error(was, Dequantizer.all(c.tensor(name)), 0))
                    .isLessThan(error(was, Dequantizer.all(b.tensor(name)), 0) / 3);
            assertThat(c.tensor("blk.0.attn_v.weight")
                            .data()
                            .mismatch(b.tensor("blk.0.attn_v.weight").data()))
                    .isEqualTo(-1);
            assertThat(c.config().integer("quantize.imatrix.entries_count")).isEqualTo(1);
        }
    }

    /** Of column 5 of an expert's 16 rows. */
    private static double error(float[] was, float[] is, int expert) {
        double sum = 0;
        for (int row = 0; row < 16; row++) {
            int i = (expert * 16 + row) * 256 + 5;
            sum += Math.pow(was[i] - is[i], 2);
        }
        return sum;
    }

    @Test
    void refusesAnImportanceOfAnotherModel() throws IOException {
        Path source = source(1f);
        Path matrix = folder.resolve("imatrix.gguf");
        Files.write(
                matrix,
                new GgufWriter()
                        .put("general.type", "imatrix")
                        .tensor(floats("blk.0.attn_v.weight.in_sum2", new float[64], 1, 64))
                        .tensor(floats("blk.0.attn_v.weight.counts", new float[] {2}, 1, 1))
                        .toBytes());
        try (Checkpoint file = Checkpoints.open(matrix)) {
            ImportanceMatrix importance = ImportanceMatrix.of(file);
            assertThatThrownBy(() -> convert(source, Q4_K, importance, 1))
                    .isInstanceOf(CheckpointException.class)
                    .hasMessageContaining("blk.0.attn_v.weight has 64 columns, the model 256");
        }
        try (Checkpoint model = Checkpoints.open(source)) {
            assertThatThrownBy(() -> ImportanceMatrix.of(model)).hasMessageContaining("expected imatrix");
        }
    }

    private Path source(float number) throws IOException {
        Random random = new Random(3);
        var values = new float[32 * 256];
        var experts = new float[2 * 16 * 256];
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) Math.clamp(random.nextGaussian(), -2, 2);
            experts[i] = (float) Math.clamp(random.nextGaussian(), -2, 2);
        }
        values[3 * 256 + 7] = number;
        Path file = folder.resolve("source.gguf");
        Files.write(
                file,
                new GgufWriter()
                        .put("general.architecture", "llama")
                        .put("llama.block_count", 1)
                        .put("tokenizer.ggml.tokens", List.of("a", "bc", "ä"))
                        .put("tokenizer.ggml.scores", new float[] {1, -2, 0.5f})
                        .put("tokenizer.ggml.add_bos_token", true)
                        .put("general.file_type", 0)
                        .tensor(floats("output.weight", values, 32, 256))
                        .tensor(floats("blk.0.attn_norm.weight", new float[] {1, 2, 3}, 3))
                        .tensor(floats("blk.0.attn_v.weight", values, 32, 256))
                        .tensor(floats("blk.0.ffn_down_exps.weight", experts, 2, 16, 256))
                        .toBytes());
        return file;
    }

    private static Tensor floats(String name, float[] numbers, long... extents) {
        byte[] bytes = GgufWriter.little(
                numbers.length * Float.BYTES, buffer -> buffer.asFloatBuffer().put(numbers));
        return new Tensor(name, DataType.F32, Shape.of(extents), MemorySegment.ofArray(bytes));
    }

    private Path convert(Path source, Recipe recipe, @Nullable ImportanceMatrix importance, int threads)
            throws IOException {
        Path target = folder.resolve("whole.gguf");
        run(source, target, recipe, importance, threads, (index, tensor, isDone) -> {});
        return target;
    }

    private static void run(
            Path source,
            Path target,
            Recipe recipe,
            @Nullable ImportanceMatrix importance,
            int threads,
            Conversion.Progress progress)
            throws IOException {
        try (Checkpoint checkpoint = Checkpoints.open(source)) {
            new Conversion(ConversionPlan.of(checkpoint, recipe, importance), target, threads).run(progress);
        }
    }
}
