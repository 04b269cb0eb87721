package roselle.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.checkpoint.Checkpoint;
import roselle.checkpoint.huggingface.SafetensorsWriter;
import roselle.checkpoint.path.Checkpoints;
import roselle.cpu.CpuDevice;
import roselle.cpu.option.CpuOptions;
import roselle.cpu.option.Precision;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/** A shared expert is the same whether it is the last of the stack, as on GPUs, or has products of its own. */
class StackedSharedExpertsTest {
    private static final Path RESOURCES = Path.of("../roselle-engine/src/test/resources");
    private static final double TOLERANCE = 5e-4;
    private static final int SIZE = 24; // of an expert of the model with a gate
    private static final int WIDTH = 48; // of its stream
    private static final int RANK = 4;

    @TempDir
    private Path folder;

    /** Each weight that a device was given: how many matrices it has, and its name. */
    private final List<String> stacks = new ArrayList<>();

    @ParameterizedTest
    @ValueSource(
            strings = {
                "tiny-models/deepseek_v3",
                "similar-models/glm4_moe",
                "similar-models/kimi_linear",
                "similar-models/afmoe",
                "similar-models/bailing_hybrid"
            })
    void equalsTransformers(String model) {
        Path reference = RESOURCES.resolve(model).resolve("expected.safetensors");
        List<Verification.Difference> whole = verify(reference, RESOURCES.resolve(model), Optional.empty(), true, 0);
        assertThat(stacks).anyMatch(name -> name.contains("experts gate, up"));
        for (Verification.Difference difference : whole) {
            assertThat(difference.isWithin(TOLERANCE)).isTrue();
        }
        assertThat(verify(reference, RESOURCES.resolve(model), Optional.empty(), true, 5))
                .as("the same bits in chunks of 5")
                .isEqualTo(whole);
    }

    @Test
    void hasItsGateAndWhatAdaptersAddToIt() throws IOException {
        Path plain = RESOURCES.resolve("tiny-models/qwen3_5_moe_text");
        Path reference = plain.resolve("expected.safetensors");
        Path model = Files.createDirectory(folder.resolve("model"));
        AlteredModel.copy(
                plain,
                model,
                Files.readString(plain.resolve("config.json"))
                        .replace(
                                "\"shared_expert_intermediate_size\": 32",
                                "\"shared_expert_intermediate_size\": " + SIZE),
                tensors -> {
                    tensors.replaceAll(StackedSharedExpertsTest::cut);
                    return tensors;
                });
        Path adapter = adapter(Files.createDirectory(folder.resolve("adapter")));
        for (Optional<Path> with : List.of(Optional.<Path>empty(), Optional.of(adapter))) {
            List<Verification.Difference> apart = verify(reference, model, with, false, 0);
            assertThat(stacks).noneMatch(name -> name.startsWith("5 "));
            List<Verification.Difference> stacked = verify(reference, model, with, true, 0);
            assertThat(stacks).anyMatch(name -> name.startsWith("5 "));
            for (int i = 0; i < apart.size(); i++) {
                assertThat(stacked.get(i).loss()).isCloseTo(apart.get(i).loss(), within(TOLERANCE));
                assertThat(stacked.get(i).largest()).isCloseTo(apart.get(i).largest(), within(TOLERANCE));
            }
        }
        double without =
                verify(reference, model, Optional.empty(), true, 0).getLast().loss();
        assertThat(verify(reference, model, Optional.of(adapter), true, 0)
                        .getFirst()
                        .loss())
                .as("an adapter of the shared expert alone")
                .isNotCloseTo(without, within(100 * TOLERANCE));
    }

    /** A shared expert's matrices without the inner numbers that the others do not have. */
    private static Tensor cut(Tensor tensor) {
        if (!tensor.name().contains(".shared_expert.")) {
            return tensor;
        }
        boolean isDown = tensor.name().contains("down_proj");
        int columns = Math.toIntExact(tensor.shape().columns());
        int rows = isDown ? WIDTH : SIZE;
        int kept = isDown ? SIZE : WIDTH;
        MemorySegment cut = MemorySegment.ofArray(new byte[rows * kept * Short.BYTES]);
        for (int row = 0; row < rows; row++) {
            long from = (long) row * columns * Short.BYTES;
            MemorySegment.copy(tensor.data(), from, cut, (long) row * kept * Short.BYTES, (long) kept * Short.BYTES);
        }
        return new Tensor(tensor.name(), tensor.type(), Shape.of(rows, kept), cut);
    }

    /** An adapter of the shared experts' products. */
    private static Path adapter(Path target) throws IOException {
        var random = new Random(1);
        var tensors = new ArrayList<Tensor>();
        for (int layer = 0; layer < 4; layer++) {
            for (String product : List.of("gate_proj", "up_proj", "down_proj")) {
                boolean isDown = product.equals("down_proj");
                String name = "base_model.model.model.layers." + layer + ".mlp.shared_expert." + product;
                tensors.add(random(name + ".lora_A.weight", RANK, isDown ? SIZE : WIDTH, random));
                tensors.add(random(name + ".lora_B.weight", isDown ? WIDTH : SIZE, RANK, random));
            }
        }
        Files.write(target.resolve("adapter_model.safetensors"), SafetensorsWriter.toBytes(tensors));
        Files.writeString(
                target.resolve("adapter_config.json"),
                "{\"peft_type\": \"LORA\", \"r\": 4, \"lora_alpha\": 8, \"bias\": \"none\", "
                        + "\"target_modules\": [\"gate_proj\", \"up_proj\", \"down_proj\"]}");
        return target;
    }

    private static Tensor random(String name, int rows, int columns, Random random) {
        MemorySegment numbers = MemorySegment.ofArray(new byte[rows * columns * Float.BYTES]);
        for (int i = 0; i < rows * columns; i++) {
            numbers.set(ValueLayout.JAVA_FLOAT_UNALIGNED, (long) i * Float.BYTES, 0.3f * (float) random.nextGaussian());
        }
        return new Tensor(name, DataType.F32, Shape.of(rows, columns), numbers);
    }

    private List<Verification.Difference> verify(
            Path reference, Path model, Optional<Path> adapter, boolean stacks, int chunk) {
        this.stacks.clear();
        try (Checkpoint expected = Checkpoints.open(reference);
                var device = new CpuDevice(CpuOptions.of(1).with(Precision.F32))) {
            return Verification.of(expected).run(model, adapter, StackingDevice.of(device, stacks, this.stacks), chunk);
        }
    }
}
