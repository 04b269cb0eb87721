package roselle.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.List;
import org.junit.jupiter.api.Test;
import roselle.backend.Device;
import roselle.backend.memory.Buffer;
import roselle.backend.memory.KvCache;
import roselle.backend.memory.KvGroup;
import roselle.backend.memory.KvType;
import roselle.backend.memory.Rows;
import roselle.backend.memory.Weight;
import roselle.backend.operation.Activation;
import roselle.backend.operation.AttentionLayer;
import roselle.backend.operation.Epilogue;
import roselle.backend.operation.ExpertLinear;
import roselle.backend.operation.ExpertProducts;
import roselle.backend.operation.ExpertSum;
import roselle.backend.operation.Gate;
import roselle.backend.operation.GatedLinear;
import roselle.backend.operation.HeadShape;
import roselle.backend.operation.Norm;
import roselle.backend.operation.Operations;
import roselle.backend.operation.Rope;
import roselle.backend.operation.Router;
import roselle.backend.operation.Routing;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepLimits;
import roselle.cuda.FakeDriver.Card;
import roselle.quantization.StoredMatrix;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/** Which kernels a step of decoding takes, and that each is given what it declares. */
class FakeFusionTest {
    private static final int WIDTH = 128;
    private static final StepLimits LIMITS = new StepLimits(1000, 1000, 1000, 64, 16);

    /** A layer's beginning on a fake device: a norm, a product, and attention to heads of 64. */
    private static final class Beginning implements AutoCloseable {
        private final FakeDriver driver;
        private final Arena arena = Arena.ofConfined();
        private final Device device;
        private final Norm norm;
        private final Weight weight;
        private final KvCache cache;
        private AttentionLayer layer;
        private final Rows hidden;
        private final Rows normed;
        private final Rows projected;
        private final Rows attended;

        Beginning(Card card) {
            driver = new FakeDriver(card);
            device = driver.open(DataType.BF16);
            Buffer ones = device.constants(new float[WIDTH]);
            norm = new Norm(Norm.Kind.RMS, ones, 0f, null, 1e-5f);
            var tensor = new Tensor(
                    "test", DataType.BF16, Shape.of(2 * WIDTH, WIDTH), arena.allocate(4L * WIDTH * WIDTH, 8));
            weight = device.load("test", 1, List.of(StoredMatrix.of(tensor)));
            var heads = new HeadShape(2, 1, 64, 64);
            cache = device.allocateKvCache(
                    List.of(new KvGroup("test", 1, 1, 64, 64, 0)), KvType.BF16, 16, new int[] {4000});
            var rope = new Rope(device.constants(new float[32]), 1f, false);
            layer = new AttentionLayer(0, 0, heads, rope, null, null, 1f, 0f, null);
            hidden = rows(WIDTH);
            normed = rows(WIDTH);
            projected = rows(2 * WIDTH);
            attended = rows(WIDTH);
        }

        private Rows rows(int columns) {
            return Rows.of(device.allocate(DataType.BF16, (long) LIMITS.maxRows() * columns), columns);
        }

        /** The kernels of a step of {@code each} rows of so many sequences. */
        List<String> kernels(int sequences, int each) {
            var inputs = new StepInputs(LIMITS, 1);
            inputs.sequences = sequences;
            for (int s = 0; s < sequences; s++) {
                inputs.contextLength[s] = 3;
                inputs.rowStart[s] = inputs.rows;
                for (int i = 0; i < each; i++) {
                    inputs.positions[inputs.rows++] = 3 + i;
                }
            }
            inputs.rowStart[sequences] = inputs.rows;
            launched(); // what came before
            device.submit(inputs, this::run);
            return launched();
        }

        private void run(Operations operations, StepInputs inputs) {
            operations.normedLinear(hidden, norm, normed, weight, Epilogue.PLAIN, projected, inputs.rows);
            operations.appendAndAttend(
                    projected.columns(0, 128),
                    projected.columns(128, 64),
                    projected.columns(192, 64),
                    layer,
                    cache,
                    attended);
        }

        /** A step for operations that depend on none. */
        private static StepInputs oneRow() {
            var inputs = new StepInputs(LIMITS, 1);
            inputs.rows = 1;
            inputs.sequences = 1;
            inputs.rowStart[1] = 1;
            return inputs;
        }

        /** The kernels of a product of so many rows that has so many outputs. */
        List<String> productKernels(int rows, int outputs) {
            var bytes = arena.allocate(2L * outputs * WIDTH, 8);
            var tensor = new Tensor("wide", DataType.BF16, Shape.of(outputs, WIDTH), bytes);
            Weight wide = device.load("wide", 1, List.of(StoredMatrix.of(tensor)));
            Rows output = rows(outputs);
            launched(); // what came before
            device.submit(oneRow(), (operations, _) -> operations.linear(hidden, wide, Epilogue.PLAIN, output, rows));
            return launched();
        }

        /** The kernels of a gated product of so many rows. */
        List<String> gatedKernels(int rows) {
            var gates = projected.columns(0, WIDTH);
            var ups = projected.columns(WIDTH, WIDTH);
            launched(); // what came before
            var product = new GatedLinear(weight, Epilogue.PLAIN, projected, gates, ups, Gate.of(Activation.SILU));
            device.submit(oneRow(), (operations, _) -> operations.gatedLinear(hidden, norm, normed, product, rows));
            return launched();
        }

        /** The kernels of a mixture of experts of so many rows, 8 of 64 for each. */
        List<String> expertKernels(int rows) {
            Rows both = rows(4 * WIDTH);
            var experts = new ExpertProducts(
                    new ExpertLinear(experts(2 * WIDTH), Epilogue.PLAIN, false),
                    both,
                    both.columns(0, WIDTH),
                    both.columns(WIDTH, WIDTH),
                    Gate.of(Activation.SILU),
                    new ExpertLinear(experts(WIDTH), Epilogue.PLAIN, true),
                    rows(8 * WIDTH));
            Rows logits = rows(64);
            var router = new Router(Router.Scoring.SOFTMAX, 64, 8, true, 1, 1, null, 1f);
            var routing = new Routing(
                    device.allocate(DataType.I32, 8L * LIMITS.maxRows()),
                    device.allocate(DataType.F32, 8L * LIMITS.maxRows()),
                    8);
            launched(); // what came before
            device.submit(oneRow(), (operations, _) -> {
                operations.routeExperts(logits, router, routing, rows);
                operations.feedExperts(normed, experts, routing, new ExpertSum(hidden, 1f, true), rows);
            });
            return launched();
        }

        private Weight experts(int outputs) {
            var bytes = arena.allocate(2L * 64 * outputs * WIDTH, 8);
            var tensor = new Tensor("experts", DataType.BF16, Shape.of(64L * outputs, WIDTH), bytes);
            return device.load("experts", 64, List.of(StoredMatrix.of(tensor)));
        }

        /** The kernels that ran since the last call: the device comes to them when it has to. */
        private List<String> launched() {
            device.read(hidden, 0, 1, arena.allocate(4L * WIDTH, 4));
            return driver.takeLaunches().stream()
                    .map(launch -> launch.kernel().name())
                    .filter(name -> !name.startsWith("to_floats"))
                    .toList();
        }

        @Override
        public void close() {
            device.close();
            arena.close();
        }
    }

    @Test
    void fewRowsAreNormalisedWithinTheProductAndAppendedWithinAttention() {
        try (var step = new Beginning(Card.HOPPER)) {
            assertThat(step.kernels(1, 1))
                    .containsExactly("linear_normed_8_bf16", "attention_decode_hopper_append_64_bf16");
            assertThat(step.kernels(4, 1))
                    .containsExactly("linear_normed_8_bf16", "attention_decode_hopper_append_64_bf16");
            assertThat(step.kernels(5, 1))
                    .containsExactly("norm_bf16", "linear_8_bf16", "attention_decode_hopper_append_64_bf16");
        }
        try (var step = new Beginning(Card.AMPERE)) {
            assertThat(step.kernels(1, 1)).contains("norm_bf16", "attention_decode_append_64_bf16");
        }
    }

    @Test
    void severalRowsOfASequenceAreAppendedBeforeAttention() {
        try (var step = new Beginning(Card.HOPPER)) {
            assertThat(step.kernels(2, 2)).endsWith("rope_append_bf16", "attention_decode_hopper_64_bf16");
            assertThat(step.kernels(1, 20)).endsWith("rope_append_bf16", "attention_prefill_hopper_64_bf16");
            assertThat(step.kernels(450, 2)).endsWith("rope_append_bf16", "attention_decode_hopper_64_bf16");
            assertThat(step.kernels(900, 1))
                    .endsWith("attention_decode_hopper_append_64_bf16")
                    .doesNotContain("rope_append_bf16");
        }
    }

    @Test
    void softCapsAndRowsOfOtherProcessorsHaveKernelsOfTheirOwn() {
        try (var step = new Beginning(Card.HOPPER)) {
            step.layer = new AttentionLayer(0, 0, step.layer.heads(), step.layer.rope(), null, null, 1f, 30f, null);
            assertThat(step.kernels(1, 20)).endsWith("attention_prefill_64_bf16");
        }
        try (var step = new Beginning(Card.AMPERE)) {
            assertThat(step.kernels(1, 20)).endsWith("attention_prefill_64_bf16");
        }
    }

    @Test
    void productsAreGatedBeforeTheyAreStoredWhereThatIsFaster() {
        try (var step = new Beginning(Card.HOPPER)) {
            assertThat(step.gatedKernels(4)).containsExactly("linear_normed_8_bf16", "gated_bf16");
            assertThat(step.gatedKernels(20)).containsExactly("norm_bf16", "linear_gated_32_bf16");
            assertThat(step.gatedKernels(64)).containsExactly("norm_bf16", "linear_gated_64_bf16");
            assertThat(step.gatedKernels(511)).containsExactly("norm_bf16", "linear_128_bf16", "gated_bf16");
            assertThat(step.gatedKernels(600)).containsExactly("norm_bf16", "linear_prompt_gated_128_bf16");
        }
    }

    @Test
    void theExpertsOfFewRowsAreTwoKernelsBehindTheirChoice() {
        try (var step = new Beginning(Card.HOPPER)) {
            assertThat(step.expertKernels(1))
                    .containsExactly("route_held_bf16", "experts_gated_4_bf16", "experts_combined_4_bf16");
            assertThat(step.expertKernels(2)).hasSize(3);
            assertThat(step.expertKernels(3))
                    .containsExactly(
                            "route_held_bf16",
                            "group_choices",
                            "grouped_few_8_plain_bf16",
                            "gated_bf16",
                            "grouped_few_8_plain_bf16",
                            "combine_experts_bf16");
        }
        try (var step = new Beginning(Card.AMPERE)) {
            assertThat(step.expertKernels(1))
                    .contains("grouped_few_8_plain_bf16")
                    .doesNotContain("group_choices");
        }
    }

    @Test
    void manyRowsAreMultipliedByBlocksThatStayWhereTheyHaveManyOutputs() {
        try (var step = new Beginning(Card.HOPPER)) {
            assertThat(step.productKernels(511, 9000)).containsExactly("linear_serial_128_bf16");
            assertThat(step.productKernels(600, 9000)).containsExactly("linear_prompt_128_bf16");
            assertThat(step.productKernels(900, 9000)).containsExactly("linear_prompt_192_bf16");
            assertThat(step.productKernels(600, 300)).containsExactly("linear_128_bf16");
        }
    }

    @Test
    void aBatchOfManyOutputsIsMultipliedByWideBlocks() {
        try (var step = new Beginning(Card.HOPPER)) {
            assertThat(step.productKernels(32, 26_000)).containsExactly("linear_64_bf16");
            assertThat(step.productKernels(64, 26_000)).containsExactly("linear_wide_64_bf16");
            assertThat(step.productKernels(64, 20_000)).containsExactly("linear_64_bf16");
        }
    }
}
