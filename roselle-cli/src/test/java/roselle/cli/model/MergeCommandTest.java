package roselle.cli.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.path.Checkpoints;
import roselle.cli.Main;
import roselle.tensor.DataType;
import roselle.tensor.Dequantizer;
import roselle.tensor.Tensor;

/** {@code roselle merge}: a merged model has PEFT's logits, whatever of the adapter cannot be added beside products. */
class MergeCommandTest {
    private static final Path RESOURCES = Path.of("../roselle-engine/src/test/resources");

    private final StringWriter output = new StringWriter();

    @TempDir
    private Path folder = Path.of("");

    @ParameterizedTest
    @CsvSource({
        "qwen3-bias, qwen3-bias-dora, 15", // DoRA, and an output matrix of its own
        "qwen3-bias, qwen3-bias-tokens, 9", // biases, and single tokens, whose output rows follow
        "qwen3-bias, qwen3-bias-embeddings, 3", // an embedding, whose output stays as it was
        "gpt2-inner, gpt2-inner-transposed, 4"
    })
    void hasTheLogitsOfPeft(String model, String adapter, int changed) {
        Path source = RESOURCES.resolve("merged-adapters").resolve(adapter);
        Path merged = folder.resolve(adapter);
        assertThat(merge(model, source, merged, "--f32")).as(output.toString()).isZero();
        assertThat(output.toString()).contains("a model with " + changed + " tensors changed");
        assertThat(run(
                        "verify",
                        merged.toString(),
                        "--reference",
                        source.resolve("expected.safetensors").toString()))
                .as(output.toString())
                .isZero();
        assertThat(run(
                        "verify",
                        RESOURCES.resolve("variant-models").resolve(model).toString(),
                        "--reference",
                        source.resolve("expected.safetensors").toString()))
                .as("the model without it")
                .isEqualTo(1);
    }

    @Test
    void encodersHaveTheirHeadAndBiases() {
        Path source = RESOURCES.resolve("merged-adapters/bert-cross-biases");
        Path merged = folder.resolve("cross");
        String[] reference = {
            "verify",
            merged.toString(),
            "--reference",
            source.resolve("expected.safetensors").toString()
        };
        assertThat(merge("../tiny-encoders/bert-cross", source, merged, "--f32"))
                .as(output.toString())
                .isZero();
        assertThat(run(reference)).as(output.toString()).isZero();
        reference[1] = RESOURCES.resolve("tiny-encoders/bert-cross").toString();
        assertThat(run(reference)).as("the model without it").isEqualTo(1);
    }

    @Test
    void keepsTheTypeOfTheModelUnlessAskedOtherwise() {
        Path adapter = RESOURCES.resolve("merged-adapters/qwen3-bias-tokens");
        Path narrow = folder.resolve("narrow");
        Path wide = folder.resolve("wide");
        assertThat(merge("qwen3-bias", adapter, narrow)).as(output.toString()).isZero();
        assertThat(merge("qwen3-bias", adapter, wide, "--f32")).isZero();
        try (Checkpoint rounded = Checkpoints.open(narrow);
                Checkpoint exact = Checkpoints.open(wide)) {
            assertThat(rounded.tensors().keySet()).isEqualTo(exact.tensors().keySet());
            for (Tensor tensor : rounded.tensors().values()) {
                assertThat(tensor.type()).isEqualTo(DataType.BF16);
                float[] numbers = Dequantizer.all(tensor);
                float[] expected = Dequantizer.all(exact.tensor(tensor.name()));
                for (int i = 0; i < numbers.length; i++) {
                    assertThat(Math.abs(numbers[i] - expected[i])).isLessThanOrEqualTo(Math.abs(expected[i]) / 256);
                }
            }
        }
        assertThat(merge("qwen3-bias", adapter, narrow)).isEqualTo(2);
        assertThat(output.toString()).contains("OUT is there already");
    }

    @Test
    void mergesWhatAServerAddsToo() {
        Path adapter = RESOURCES.resolve("adapters/qwen3-bias-patterns");
        Path merged = folder.resolve("patterns");
        assertThat(merge("qwen3-bias", adapter, merged, "--f32"))
                .as(output.toString())
                .isZero();
        assertThat(run(
                        "verify",
                        merged.toString(),
                        "--reference",
                        adapter.resolve("expected.safetensors").toString()))
                .as(output.toString())
                .isZero();
    }

    @Test
    void refusesAnotherModelsAdapter() {
        Path adapter = RESOURCES.resolve("merged-adapters/gpt2-inner-transposed");
        assertThat(merge("qwen3-bias", adapter, folder.resolve("other"))).isEqualTo(65);
        assertThat(output.toString()).contains("which the model does not have; the adapter is for another model");
        assertThat(folder.resolve("other")).doesNotExist();
    }

    /** A head of its own for a decoder that has none would never be asked. */
    @Test
    void refusesAHeadThatTheModelDoesNotHave() throws IOException {
        Path adapter = Files.createDirectory(folder.resolve("adapter"));
        Path source = RESOURCES.resolve("merged-adapters/qwen3-bias-dora");
        Files.copy(source.resolve("adapter_config.json"), adapter.resolve("adapter_config.json"));
        byte[] weights = Files.readAllBytes(source.resolve("adapter_model.safetensors"));
        String text = new String(weights, StandardCharsets.ISO_8859_1).replace("model.lm_head.", "model.XX_head.");
        Files.write(adapter.resolve("adapter_model.safetensors"), text.getBytes(StandardCharsets.ISO_8859_1));
        assertThat(merge("qwen3-bias", adapter, folder.resolve("other"))).isEqualTo(65);
        assertThat(output.toString()).contains("changes XX_head.weight, which the model does not have");
    }

    private int merge(String model, Path adapter, Path target, String... options) {
        var arguments = new String[4 + options.length];
        arguments[0] = "merge";
        arguments[1] = RESOURCES.resolve("variant-models").resolve(model).toString();
        arguments[2] = adapter.toString();
        arguments[3] = target.toString();
        System.arraycopy(options, 0, arguments, 4, options.length);
        return run(arguments);
    }

    private int run(String... arguments) {
        var writer = new PrintWriter(output, true);
        return Main.commandLine(arguments).setOut(writer).setErr(writer).execute(arguments);
    }
}
