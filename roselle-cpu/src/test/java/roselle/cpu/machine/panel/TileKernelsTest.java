package roselle.cpu.machine.panel;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.cpu.machine.Compute;
import roselle.cpu.machine.GuardedMemory;
import roselle.cpu.machine.InstructionSet;
import roselle.cpu.machine.Processor;
import roselle.cpu.machine.Processor.Feature;
import roselle.cpu.machine.gemm.PanelGemm;
import roselle.tensor.DataType;

/** Keys and values that went into panels are found there, and no byte beyond them was touched. */
class TileKernelsTest {
    private static final int ROWS = 16;

    record Case(
            InstructionSet set,
            Compute compute,
            DataType type,
            int columns,
            boolean isConverted,
            boolean isUpToTheEnd) {}

    static List<Case> cases() {
        var cases = new ArrayList<Case>();
        var features = Processor.probe().features();
        if (features.contains(Feature.AVX2)) {
            add(cases, InstructionSet.AVX2, Compute.F32);
        }
        for (Compute compute : List.of(Compute.F32, Compute.BF16, Compute.SPLIT)) {
            if (features.contains(compute == Compute.F32 ? Feature.AVX512 : Feature.BF16)) {
                add(cases, InstructionSet.AVX512, compute);
            }
        }
        return cases;
    }

    private static void add(List<Case> cases, InstructionSet set, Compute compute) {
        for (DataType type : List.of(DataType.F32, DataType.F16, DataType.BF16)) {
            for (boolean isConverted : new boolean[] {false, true}) {
                cases.add(new Case(set, compute, type, 32, isConverted, true));
                cases.add(new Case(set, compute, type, 96, isConverted, false));
            }
        }
    }

    private static MemorySegment place(GuardedMemory memory, Case each, long bytes) {
        return each.isUpToTheEnd ? memory.upToTheEnd(bytes) : memory.fromTheStart(bytes);
    }

    @ParameterizedTest(allowZeroInvocations = true)
    @MethodSource("cases")
    void panelsHoldTheNumbersOfTheirRows(Case each) {
        int count = ROWS * each.columns;
        long convertedBytes = (long) count * each.compute.bytes();
        try (var kernels = TileKernels.open(each.compute, each.set).orElseThrow();
                var source = new GuardedMemory(each.type.rowBytes(count));
                var converted = new GuardedMemory(convertedBytes);
                var keys = new GuardedMemory(convertedBytes);
                var values = new GuardedMemory(
                        each.columns / Panel.OUTPUTS * kernels.panel().bytes(ROWS))) {
            Panel panels = kernels.panel();
            long valueBytes = each.columns / Panel.OUTPUTS * panels.bytes(ROWS);
            MemorySegment from = place(source, each, each.type.rowBytes(count));
            float[] numbers = fill(from, each, count);
            MemorySegment rows = place(converted, each, convertedBytes);
            MemorySegment keyPanel = place(keys, each, convertedBytes);
            MemorySegment valuePanels = place(values, each, valueBytes);
            TileKernels.Call call = kernels.call();
            if (each.isConverted) {
                call.stage(each.type, from.address(), rows.address(), count);
                from = rows;
            }
            DataType type = each.isConverted ? kernels.type() : each.type;
            call.keys(type, from.address(), each.columns, keyPanel.address());
            for (int row = 0; row < ROWS; row += 2) { // a part at a time
                long pair = from.address() + row * type.rowBytes(each.columns);
                long target = valuePanels.address() + kernels.rowAt(row);
                call.values(type, pair, 2, each.columns, target, panels.bytes(ROWS));
            }
            // a row of a panel of keys is a row; a row of the panels of values is a column
            for (int row = 0; row < ROWS; row++) {
                for (int column = 0; column < each.columns; column++) {
                    float want = numbers[row * each.columns + column];
                    if (each.compute == Compute.SPLIT) {
                        want = BrainFloat.toFloat(BrainFloat.of(want)) + BrainFloat.toFloat(BrainFloat.rest(want));
                    }
                    assertThat(at(each, keyPanel, 0, column, row)).isEqualTo(want);
                    long panel = column / Panel.OUTPUTS * panels.bytes(ROWS);
                    assertThat(at(each, valuePanels, panel, row, column % Panel.OUTPUTS))
                            .isEqualTo(want);
                }
            }
        }
    }

    /** What an output of a panel has at k. */
    private static float at(Case each, MemorySegment panel, long from, int k, int output) {
        if (each.compute == Compute.SPLIT) {
            long rounded = from + k / 32 * 2048L + k % 32 / 2 * 64L + output * 4L + k % 2 * 2L;
            return BrainFloat.toFloat(panel.get(JAVA_SHORT_UNALIGNED, rounded))
                    + BrainFloat.toFloat(panel.get(JAVA_SHORT_UNALIGNED, rounded + 1024));
        }
        return each.compute == Compute.F32
                ? panel.get(JAVA_FLOAT_UNALIGNED, from + k * 64L + output * 4L)
                : BrainFloat.toFloat(panel.get(JAVA_SHORT_UNALIGNED, from + k / 2 * 64L + output * 4L + k % 2 * 2L));
    }

    /** Fills the source with random numbers; what they are in the precision of the panels. */
    private static float[] fill(MemorySegment source, Case each, int count) {
        var random = new Random(11);
        var numbers = new float[count];
        for (int i = 0; i < count; i++) {
            float number = (float) random.nextGaussian();
            switch (each.type) {
                case F32 -> {
                    source.set(JAVA_FLOAT_UNALIGNED, i * 4L, number);
                    numbers[i] = number;
                }
                case F16 -> {
                    short half = Float.floatToFloat16(number);
                    source.set(JAVA_SHORT_UNALIGNED, i * 2L, half);
                    numbers[i] = Float.float16ToFloat(half);
                }
                default -> {
                    short half = BrainFloat.of(number);
                    source.set(JAVA_SHORT_UNALIGNED, i * 2L, half);
                    numbers[i] = BrainFloat.toFloat(half);
                }
            }
        }
        return PanelGemm.activations(numbers, count, count, each.compute);
    }
}
