package roselle.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.List;
import java.util.function.IntUnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import roselle.backend.Device;
import roselle.backend.memory.Buffer;
import roselle.backend.memory.LowRank;
import roselle.backend.memory.Rows;
import roselle.backend.memory.Weight;
import roselle.backend.operation.Activation;
import roselle.backend.operation.Epilogue;
import roselle.backend.operation.Gate;
import roselle.backend.operation.GatedLinear;
import roselle.backend.operation.Operations;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepLimits;
import roselle.cuda.FakeDriver.Card;
import roselle.quantization.StoredMatrix;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/** Which kernels a step with adapters takes, in which order, and that each is given what it declares. */
class FakeAdaptersTest {
    private static final int WIDTH = 128;
    private static final StepLimits LIMITS = new StepLimits(1000, 1000, 1000, 64, 16);

    private final Arena arena = Arena.ofConfined();
    private final FakeDriver driver = new FakeDriver(Card.HOPPER);
    private final Device device = driver.open(DataType.BF16);
    private final Weight first = weight();
    private final Weight gateAndUp = weight();
    private final Rows hidden = rows(WIDTH);
    private final Rows both = rows(2 * WIDTH);
    private final GatedLinear product = new GatedLinear(
            gateAndUp,
            Epilogue.PLAIN,
            both,
            both.columns(0, WIDTH),
            both.columns(WIDTH, WIDTH),
            Gate.of(Activation.SILU));

    @AfterEach
    void close() {
        device.close();
        arena.close();
    }

    private Rows rows(int columns) {
        Buffer buffer = device.allocate(DataType.BF16, (long) LIMITS.maxRows() * columns);
        return Rows.of(buffer, columns);
    }

    private Weight weight() {
        var shape = Shape.of(2 * WIDTH, WIDTH);
        var tensor = new Tensor("test", DataType.BF16, shape, arena.allocate(4L * WIDTH * WIDTH, 8));
        return device.load("test", 1, List.of(StoredMatrix.of(tensor)));
    }

    private LowRank lowRank(Weight weight, int outputs) {
        var shrink = new Tensor("A", DataType.F32, Shape.of(2, WIDTH), arena.allocate(8L * WIDTH, 8));
        var expand = new Tensor("B", DataType.F32, Shape.of(outputs, 2), arena.allocate(8L * outputs, 8));
        return new LowRank(weight, 0, shrink, expand, IntUnaryOperator.identity(), 1f);
    }

    /** The kernels of a step of so many rows that have one adapter. */
    private List<String> kernels(int rows, LowRank matrices) {
        return kernels(rows, 1, matrices);
    }

    /** The kernels of a step of so many sequences with so many rows each, and an adapter of its own each. */
    private List<String> kernels(int rows, int sequences, LowRank matrices) {
        var inputs = new StepInputs(LIMITS, 1);
        inputs.rows = rows * sequences;
        inputs.sequences = sequences;
        inputs.adapts = true;
        for (int s = 0; s < sequences; s++) {
            inputs.rowStart[s + 1] = (s + 1) * rows;
            inputs.adapter[s] = device.allocateAdapter(List.of(matrices));
        }
        launched(); // what came before
        device.submit(inputs, this::run);
        return launched();
    }

    private void run(Operations operations, StepInputs inputs) {
        operations.linear(hidden, first, Epilogue.PLAIN, both, inputs.rows);
        operations.adapt(hidden, first, 1f, both);
        operations.adaptedGatedLinear(hidden, product, inputs.rows);
    }

    private List<String> launched() {
        device.read(hidden, 0, 1, arena.allocate(4L * WIDTH, 4));
        return driver.takeLaunches().stream()
                .map(launch -> launch.kernel().name())
                .filter(name -> !name.startsWith("to_floats"))
                .toList();
    }

    @Test
    void gatesOfFewRowsAreAddedToAndGatedByTheProduct() {
        assertThat(kernels(40, lowRank(gateAndUp, 2 * WIDTH)))
                .endsWith("low_rank_shrink_bf16", "linear_adapted_gated_64_bf16");
    }

    @Test
    void rowsAreShrunkBeforeTheProductAndExpandedBehindIt() {
        assertThat(kernels(40, lowRank(first, 2 * WIDTH - 4)).subList(0, 3))
                .containsExactly("low_rank_shrink_bf16", "linear_64_bf16", "low_rank_expand_bf16");
        assertThat(kernels(300, lowRank(first, 2 * WIDTH)))
                .contains("low_rank_shrink_many_bf16", "low_rank_expand_many_bf16");
    }

    @Test
    void rowsWithAdaptersOfTheirOwnAreExpandedOneByOne() {
        assertThat(kernels(1, 40, lowRank(first, 2 * WIDTH)).subList(0, 3))
                .containsExactly("low_rank_shrink_bf16", "linear_64_bf16", "low_rank_expand_each_bf16");
        assertThat(kernels(1, 40, lowRank(gateAndUp, 2 * WIDTH)))
                .endsWith("low_rank_shrink_bf16", "linear_64_bf16", "low_rank_gated_each_bf16");
    }

    @Test
    void whatIsAddedToGatesAndUpsIsGatedWithIt() {
        assertThat(kernels(100, lowRank(gateAndUp, 2 * WIDTH))).endsWith("low_rank_gated_bf16");
    }

    @Test
    void partsThatEndBetweenEightOutputsAreGatedApart() {
        assertThat(kernels(3, lowRank(gateAndUp, 2 * WIDTH - 4))).endsWith("low_rank_expand_bf16", "gated_bf16");
    }

    @Test
    void gatesThatNoAdapterAddsToAreGatedByTheProduct() {
        assertThat(kernels(64, lowRank(first, 2 * WIDTH))).endsWith("linear_gated_64_bf16");
    }
}
