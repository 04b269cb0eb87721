package roselle.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.List;
import org.junit.jupiter.api.Test;
import roselle.backend.memory.KvCache;
import roselle.backend.memory.KvGroup;
import roselle.backend.memory.KvType;
import roselle.backend.memory.Rows;
import roselle.backend.operation.Activation;
import roselle.backend.operation.Convolution;
import roselle.backend.operation.DeltaHeads;
import roselle.backend.operation.DeltaNet;
import roselle.backend.operation.DeltaRule;
import roselle.backend.operation.Gate;
import roselle.backend.operation.Norm;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepLimits;
import roselle.cuda.FakeDriver.Card;
import roselle.tensor.DataType;

/** Which kernels layers with states take, and that each is given what it declares. */
class FakeStateTest {
    private static final StepLimits LIMITS = new StepLimits(1000, 1000, 1000, 64, 16);
    private static final DeltaHeads HEADS = new DeltaHeads(1, 2, 128, 128);
    private static final List<String> PARTS =
            List.of("convolve_rows_four_bf16", "delta_rule_rows_bf16", "gate_normed_bf16");

    @Test
    void aDeltaNetOfFewSingleRowsIsOneKernel() {
        assertThat(kernels(1, 1, false)).containsExactly("delta_net_decode_bf16");
        assertThat(kernels(100, 1, false)).containsExactly("delta_net_decode_bf16");
    }

    @Test
    void othersAreItsParts() {
        assertThat(kernels(1, 5, false)).isEqualTo(PARTS);
        assertThat(kernels(1, 1, true)).as("a convolution with a bias").contains("delta_rule_decode_bf16");
        assertThat(kernels(300, 1, false))
                .as("blocks with several heads fill the device")
                .containsExactly("convolve_rows_four_bf16", "delta_rule_decode_bf16", "gate_normed_bf16");
    }

    /** The kernels of a step of {@code each} rows of so many sequences. */
    private static List<String> kernels(int sequences, int each, boolean isBiased) {
        var driver = new FakeDriver(Card.HOPPER);
        try (var device = driver.open(DataType.BF16)) {
            List<KvGroup> groups = List.of(KvGroup.ofState("convolution", 1, HEADS.channels(), 0), HEADS.group(1));
            KvCache cache = device.allocateKvCache(groups, KvType.BF16, 16, new int[] {4000, 4000});
            int channels = HEADS.channels();
            int values = HEADS.values();
            int columns = 2 * channels + values + 8;
            Rows all = Rows.of(device.allocate(DataType.BF16, (long) LIMITS.maxRows() * columns), columns);
            Rows convolved = all.columns(channels + values, channels);
            Rows attended = Rows.of(device.allocate(DataType.BF16, (long) LIMITS.maxRows() * values), values);
            var net = new DeltaNet(
                    all.columns(0, channels),
                    new Convolution(
                            0,
                            0,
                            4,
                            device.constants(new float[4 * channels]),
                            isBiased ? device.constants(new float[channels]) : null,
                            Activation.SILU),
                    convolved,
                    convolved.columns(0, HEADS.keys()),
                    convolved.columns(HEADS.keys(), HEADS.keys()),
                    convolved.columns(2 * HEADS.keys(), values),
                    all.columns(columns - 8, 2),
                    all.columns(columns - 6, 2),
                    new DeltaRule(1, 0, HEADS, device.constants(new float[2]), device.constants(new float[2])),
                    attended,
                    Rows.of(attended.buffer(), HEADS.valueSize()),
                    new Norm(Norm.Kind.RMS, device.constants(new float[128]), 0f, null, 1e-6f),
                    all.columns(channels, values),
                    Gate.of(Activation.SILU));
            driver.takeLaunches(); // what came before
            device.submit(step(sequences, each), (operations, inputs) -> operations.deltaNet(net, cache, inputs.rows));
            device.read(attended, 0, 1, Arena.ofAuto().allocate(4L * values, 4));
            return driver.takeLaunches().stream()
                    .map(launch -> launch.kernel().name())
                    .filter(name -> !name.startsWith("to_floats"))
                    .toList();
        }
    }

    private static StepInputs step(int sequences, int each) {
        var inputs = new StepInputs(LIMITS, 2);
        inputs.sequences = sequences;
        for (int s = 0; s < sequences; s++) {
            inputs.contextLength[s] = 3;
            inputs.rowStart[s] = inputs.rows;
            for (int i = 0; i < each; i++) {
                inputs.positions[inputs.rows++] = 3 + i;
            }
        }
        inputs.rowStart[sequences] = inputs.rows;
        return inputs;
    }
}
