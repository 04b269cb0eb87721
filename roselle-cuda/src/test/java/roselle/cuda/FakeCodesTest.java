package roselle.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.backend.Device;
import roselle.backend.memory.KvGroup;
import roselle.backend.memory.KvType;
import roselle.backend.memory.Rows;
import roselle.backend.operation.AttentionLayer;
import roselle.backend.operation.HeadShape;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepLimits;
import roselle.cuda.FakeDriver.Card;
import roselle.cuda.kernel.AttentionTiling;
import roselle.cuda.row.HeadKernels;
import roselle.engine.Engine;
import roselle.engine.EngineConfig.CacheOptions;
import roselle.engine.EngineOnDevice;
import roselle.tensor.DataType;

/** Keys and values in codes: which kernels read them, and that every launch keeps the rules. */
class FakeCodesTest {
    private static final Path MODELS = Path.of("../roselle-engine/src/test/resources/tiny-models");
    private static final StepLimits LIMITS = new StepLimits(300, 300, 300, 320, AttentionTiling.PAGE);
    private static final List<Card> CARDS = List.of(Card.AMPERE, Card.ADA, Card.HOPPER);

    /** A decoder that sees all, one with windows in 16 bits, one with latent attention, one with states. */
    @ParameterizedTest
    @CsvSource({"llama, fp8", "gemma3, int8", "deepseek_v3, int4", "qwen3_5, int4"})
    void enginesKeepKeysAndValuesInCodes(String model, String kvType) {
        var driver = new FakeDriver(Card.HOPPER);
        var config = FakeDeviceTest.config(MODELS.resolve(model))
                .with(new CacheOptions(kvType, 16 << 20, AttentionTiling.PAGE, true));
        try (Engine engine = EngineOnDevice.open(config, driver.open(DataType.BF16))) {
            assertThat(engine.plan().kvType().label()).isEqualTo(kvType);
            FakeDeviceTest.generate(engine);
        }
        assertThat(driver.leaks()).isEmpty();
    }

    @Test
    void usualHeadsHaveKernelsOfTheirOwnWhereABlockHasRoom() {
        for (Card card : CARDS) {
            for (int size : HeadKernels.SIZES) {
                boolean fits = size < 256 || (size == 256 && card.equals(Card.HOPPER));
                String kind = fits ? "_fp8_" + size + "_bf16" : "";
                assertThat(kernels(card, KvType.FP8, size))
                        .as("heads of %d on %s", size, card.name())
                        .containsExactly(
                                "append_bf16",
                                fits ? "attention_decode" + kind : "attention_bf16",
                                "append_bf16",
                                fits ? "attention_prefill" + kind : "attention_bf16");
            }
        }
    }

    @Test
    void codesOfEightBitsHaveKernelsAndThoseOfFourTheGenericOnes() {
        assertThat(kernels(Card.HOPPER, KvType.INT8, 128))
                .contains("attention_decode_int8_128_bf16", "attention_prefill_int8_128_bf16");
        assertThat(kernels(Card.HOPPER, KvType.INT4, 128)).containsOnly("append_bf16", "attention_bf16");
    }

    @Test
    void otherHeadsAreLeftToTheGenericKernels() {
        assertThat(kernels(Card.HOPPER, KvType.INT8, 48)).containsOnly("append_bf16", "attention_bf16");
    }

    /** What a layer launches for three sequences of a row each, and then for one of 300. */
    private static List<String> kernels(Card card, KvType codes, int size) {
        var driver = new FakeDriver(card);
        var heads = new HeadShape(8, 2, size, size);
        try (Device device = driver.open(DataType.BF16);
                Arena arena = Arena.ofConfined()) {
            var group = new KvGroup("test", 1, 2, size, size, 0);
            var cache = device.allocateKvCache(List.of(group), codes, AttentionTiling.PAGE, new int[] {1000});
            Rows all = Rows.of(device.allocate(DataType.BF16, 300L * 12 * size), 12 * size);
            Rows output = Rows.of(device.allocate(DataType.BF16, 300L * 8 * size), 8 * size);
            var layer = new AttentionLayer(0, 0, heads, null, null, null, 1f, 0f, null);
            driver.takeLaunches();
            for (int[] rows : new int[][] {{0, 1, 2, 3}, {0, 300}}) {
                device.submit(
                        inputs(rows),
                        (operations, _) -> operations.appendAndAttend(
                                all.columns(0, 8 * size),
                                all.columns(8 * size, 2 * size),
                                all.columns(10 * size, 2 * size),
                                layer,
                                cache,
                                output));
            }
            device.read(output, 0, 1, arena.allocate(4L * output.columns(), 4));
            return driver.takeLaunches().stream()
                    .map(launch -> launch.kernel().name())
                    .filter(name -> !name.startsWith("to_floats"))
                    .toList();
        }
    }

    private static StepInputs inputs(int[] rowStart) {
        var inputs = new StepInputs(LIMITS, 1);
        inputs.sequences = rowStart.length - 1;
        inputs.rows = rowStart[inputs.sequences];
        System.arraycopy(rowStart, 0, inputs.rowStart, 0, rowStart.length);
        return inputs;
    }
}
