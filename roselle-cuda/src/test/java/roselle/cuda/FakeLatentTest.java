package roselle.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.lang.foreign.Arena;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import roselle.backend.Device;
import roselle.backend.memory.KvCache;
import roselle.backend.memory.KvGroup;
import roselle.backend.memory.KvType;
import roselle.backend.memory.Rows;
import roselle.backend.operation.AttentionLayer;
import roselle.backend.operation.HeadShape;
import roselle.backend.step.StepDemands;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepLimits;
import roselle.cuda.FakeDriver.Card;
import roselle.tensor.DataType;

/** Which kernels attend to latent pages, and that each is given what it declares. */
class FakeLatentTest {
    private static final int PAGE = 16;
    private static final int TURNED = 64;
    /** Small pieces come from slabs of 2 MiB, which may have been taken before. */
    private static final long SLABS = 3 << 20;

    /** Attention of one layer on a fake device. */
    private static final class Attending implements AutoCloseable {
        private final FakeDriver driver;
        private final Arena arena = Arena.ofConfined();
        private final Device device;
        private final StepLimits limits;
        private final KvCache cache;
        private final AttentionLayer layer;
        private final Rows absorbed;
        private final Rows attended;

        Attending(Card card, DataType type, int heads, int valueSize, int maxContext) {
            driver = new FakeDriver(card.withBytes(16L << 30));
            device = driver.open(type);
            limits = new StepLimits(300, 300, 300, maxContext, PAGE);
            int keySize = valueSize + TURNED;
            var group = new KvGroup("latent", 1, 1, keySize, 0, 0);
            cache = device.allocateKvCache(List.of(group), KvType.of(type), PAGE, new int[] {4000});
            layer = new AttentionLayer(
                    0, 0, new HeadShape(heads, 1, keySize, valueSize), null, null, null, 1f, 0f, null);
            absorbed = rows(type, heads * keySize);
            attended = rows(type, heads * valueSize);
        }

        StepDemands demands() {
            var attention =
                    new StepDemands.Attention(layer.heads(), cache.groups().getFirst());
            return new StepDemands(limits, KvType.BF16, 1, List.of(attention), 64, 64, 64, 0, 0, 0);
        }

        private Rows rows(DataType type, int columns) {
            return Rows.of(device.allocate(type, (long) limits.maxRows() * columns), columns);
        }

        /** The launches of a step of {@code each} rows of so many sequences. */
        List<FakeKernels.Launch> launches(int sequences, int each, int context) {
            var inputs = new StepInputs(limits, 1);
            inputs.sequences = sequences;
            for (int s = 0; s < sequences; s++) {
                inputs.contextLength[s] = context;
                inputs.rowStart[s] = inputs.rows;
                for (int i = 0; i < each; i++) {
                    inputs.positions[inputs.rows++] = context + i;
                }
            }
            inputs.rowStart[sequences] = inputs.rows;
            launched(); // what came before
            device.submit(inputs, (operations, _) -> operations.attention(absorbed, layer, cache, attended));
            return launched();
        }

        /** What ran since the last call: the device comes to it when it has to. */
        private List<FakeKernels.Launch> launched() {
            device.read(attended, 0, 1, arena.allocate(4L * attended.columns(), 4));
            return driver.takeLaunches().stream()
                    .filter(launch -> !launch.kernel().name().startsWith("to_floats"))
                    .toList();
        }

        List<String> kernels(int sequences, int each, int context) {
            return launches(sequences, each, context).stream()
                    .map(launch -> launch.kernel().name())
                    .toList();
        }

        @Override
        public void close() {
            device.close();
            arena.close();
            assertThat(driver.leaks()).isEmpty();
        }
    }

    @ParameterizedTest
    @CsvSource({"BF16,bf16", "F16,f16"})
    void fewRowsShareTheirContextAmongBlocksAndManyRowsAreTakenInTiles(DataType type, String suffix) {
        try (var step = new Attending(Card.HOPPER, type, 16, 512, 4096)) {
            assertThat(step.kernels(1, 1, 900)).containsExactly("latent_16_" + suffix, "latent_merge_" + suffix);
            assertThat(step.launches(2, 1, 900).getFirst().grid().y())
                    .as("splits of 256 among 1,024 positions")
                    .isEqualTo(4);
            assertThat(step.kernels(1, 20, 900)).containsExactly("latent_hopper_" + suffix);
        }
    }

    @Test
    void devicesWithLessSharedMemoryTakeTilesOf16Rows() {
        for (Card card : List.of(Card.AMPERE, Card.ADA)) {
            try (var step = new Attending(card, DataType.BF16, 16, 512, 4096)) {
                assertThat(step.kernels(1, 1, 900)).containsExactly("latent_16_bf16", "latent_merge_bf16");
                assertThat(step.kernels(1, 20, 900)).containsExactly("latent_16_bf16");
            }
        }
    }

    @Test
    void manyHeadsOfManyRowsAreTakenInTilesOf64() {
        try (var step = new Attending(Card.HOPPER, DataType.BF16, 128, 512, 4096)) {
            assertThat(step.kernels(2, 1, 900)).containsExactly("latent_16_bf16", "latent_merge_bf16");
            assertThat(step.kernels(8, 1, 900)).containsExactly("latent_hopper_bf16", "latent_merge_bf16");
            assertThat(step.kernels(200, 1, 900)).containsExactly("latent_hopper_bf16");
        }
        var blackwell = new Card("Fake B200", 10, 0, 148, 227 << 10, 4L << 30);
        try (var step = new Attending(blackwell, DataType.BF16, 128, 512, 4096)) {
            assertThat(step.kernels(200, 1, 900)).containsExactly("latent_64_bf16");
        }
    }

    @Test
    void aContextWhosePartsHaveNoRoomIsNotCut() {
        try (var step = new Attending(Card.HOPPER, DataType.BF16, 128, 512, 60_000)) {
            assertThat(step.kernels(1, 1, 59_000)).contains("latent_merge_bf16");
            assertThat(step.launches(20, 1, 59_000))
                    .singleElement()
                    .satisfies(launch -> assertThat(launch.grid().y()).isEqualTo(1));
        }
    }

    @Test
    void whatStepsNeedIsTakenBeforeTheFirst() {
        for (Card card : List.of(Card.AMPERE, Card.HOPPER)) {
            try (var step = new Attending(card, DataType.BF16, 128, 512, 4096)) {
                StepDemands demands = step.demands();
                long before = step.driver.deviceMemory().usedBytes();
                step.device.prepare(demands);
                long taken = step.driver.deviceMemory().usedBytes() - before;
                assertThat(taken).isCloseTo(step.device.stepBytes(demands), within(SLABS));
                int allocations = step.driver.count("cuMemAlloc");
                step.kernels(1, 1, 4000);
                step.kernels(60, 1, 4000);
                step.kernels(3, 90, 3000);
                assertThat(step.driver.count("cuMemAlloc")).isEqualTo(allocations);
            }
        }
    }

    @Test
    void otherSizesAndTypesAreLeftToTheGenericKernel() {
        try (var step = new Attending(Card.HOPPER, DataType.BF16, 16, 256, 4096)) {
            assertThat(step.kernels(1, 1, 900)).containsExactly("attention_bf16");
        }
        try (var step = new Attending(Card.HOPPER, DataType.F32, 16, 512, 4096)) {
            assertThat(step.kernels(1, 20, 900)).containsExactly("attention_f32");
        }
    }
}
