package roselle.cpu.gemm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.api.DeviceException;
import roselle.backend.memory.Rows;
import roselle.backend.operation.Epilogue;
import roselle.backend.step.SamplingRows;
import roselle.backend.step.StepInputs;
import roselle.backend.step.StepLimits;
import roselle.cpu.CpuDevice;
import roselle.cpu.machine.Processor;
import roselle.cpu.machine.amx.AmxInterpreter;
import roselle.cpu.machine.panel.Panel;
import roselle.cpu.memory.CpuBuffer;
import roselle.cpu.memory.CpuWeight;
import roselle.cpu.memory.MachineCode;
import roselle.cpu.option.CpuOptions;
import roselle.cpu.option.CpuPath;
import roselle.cpu.option.Precision;
import roselle.cpu.vector.Lanes;
import roselle.tensor.DataType;
import roselle.testing.ChildJvm;

public class GemmTest {
    static List<CpuOptions> paths() {
        var options = new ArrayList<CpuOptions>();
        var features = Processor.probe().features();
        options.add(GemmContract.VECTOR);
        if (features.contains(Processor.Feature.AVX2)) {
            options.add(CpuOptions.of(1).with(CpuPath.AVX2));
            options.add(CpuOptions.of(1).with(CpuPath.AVX2).with(Precision.INT8));
        }
        if (features.contains(Processor.Feature.AVX512)) {
            options.add(CpuOptions.of(1).with(CpuPath.AVX512));
        }
        if (features.contains(Processor.Feature.VNNI)) {
            options.add(CpuOptions.of(1).with(CpuPath.VNNI));
        }
        if (features.contains(Processor.Feature.BF16)) {
            options.add(CpuOptions.of(1).with(CpuPath.BF16));
            options.add(CpuOptions.of(1).with(CpuPath.BF16).with(Precision.BF16));
        }
        if (features.contains(Processor.Feature.AMX)) {
            options.add(CpuOptions.of(1).with(CpuPath.AMX));
            options.add(CpuOptions.of(1).with(CpuPath.AMX).with(Precision.BF16));
            options.add(CpuOptions.of(1).with(CpuPath.AMX).with(Precision.SPLIT));
        }
        return options;
    }

    /** Without machine code, and as this machine does best. */
    static List<CpuOptions> twoPaths() {
        return List.of(GemmContract.VECTOR, CpuOptions.of(1));
    }

    @ParameterizedTest
    @MethodSource("twoPaths")
    void everyFormatMultipliesAsItsScalarTwin(CpuOptions options) {
        assertThat(new GemmContract(2_025, options).faults()).isEmpty();
    }

    @Tag("long")
    @ParameterizedTest
    @MethodSource("paths")
    void everyFormatMultipliesAsItsScalarTwinOnEachPath(CpuOptions options) {
        assertThat(new GemmContract(2_025, options).faults()).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("twoPaths")
    void logitsThatAreWantedAreTheSameWithoutTheOthers(CpuOptions options) {
        checkWantedLogits(options);
    }

    @Tag("long")
    @ParameterizedTest
    @MethodSource("paths")
    void logitsThatAreWantedAreTheSameWithoutTheOthersOnEachPath(CpuOptions options) {
        checkWantedLogits(options);
    }

    /** What is left out is −∞, and everything else what it would be among all. */
    private static void checkWantedLogits(CpuOptions options) {
        int outputs = 1000;
        var random = new Random(2_027);
        var leftOut = new AtomicInteger();
        var contract = new GemmContract(2_027, options, (device, input, weight, output, rows) -> {
            var inputs = new StepInputs(new StepLimits(70, 70, 70, 70, 16), 1);
            for (int row = 0; row < rows; row++) {
                inputs.wanted[row] = random.nextInt(20) == 0 ? SamplingRows.ALL : few(outputs, random);
            }
            Rows all = Rows.of(device.allocate(DataType.F32, (long) rows * outputs), outputs);
            device.operations().linear(input, weight, Epilogue.PLAIN, all, rows);
            device.submit(inputs, (operations, _) -> operations.logits(input, weight, Epilogue.PLAIN, output, rows));
            for (int i = 0; i < rows * outputs; i++) {
                long[] wanted = inputs.wanted[i / outputs];
                int token = i % outputs;
                boolean isWanted = wanted.length == 0 || (wanted[token / 64] >>> token & 1) != 0;
                if (!isWanted && CpuBuffer.number(CpuBuffer.of(output), i) == Float.NEGATIVE_INFINITY) {
                    CpuBuffer.number(CpuBuffer.of(output), i, CpuBuffer.number(CpuBuffer.of(all), i));
                    leftOut.incrementAndGet();
                }
            }
        });
        assertThat(contract.faultsOfMany(outputs)).isEmpty();
        assertThat(leftOut.get()).isGreaterThan(5_000);
    }

    /** Rows and columns of any number, alone and among others, in two numbers of bfloat16 for each. */
    @Test
    void splitNumbersMultiplyAsTheirScalarTwin() {
        assumeTrue(Processor.probe().features().contains(Processor.Feature.AMX));
        CpuOptions split = CpuOptions.of(1).with(CpuPath.AMX).with(Precision.SPLIT);
        assertThat(new GemmContract(2_028, split).faultsOfFloats()).isEmpty();
    }

    private static long[] few(int outputs, Random random) {
        var mask = new long[(outputs + 63) / 64];
        for (int count = 1 + random.nextInt(2); count > 0; count--) {
            int token = random.nextInt(8) == 0 ? outputs - 1 : random.nextInt(outputs);
            mask[token / 64] |= 1L << token;
        }
        return mask;
    }

    @Tag("long")
    @Test
    void everyFormatMultipliesAsItsScalarTwinInTilesThatAreInterpreted() {
        assumeTrue(Processor.probe().features().contains(Processor.Feature.BF16));
        AmxInterpreter interpreter = AmxInterpreter.anywhere();
        var contract = GemmContract.of(
                2_026,
                CpuOptions.of(1).with(Precision.BF16),
                options -> new CpuDevice(options, MachineCode.withTiles(options, interpreter.kernels(), "a test")));
        assertThat(contract.faults()).isEmpty();
        assertThat(interpreter.products()).isGreaterThan(10_000);
    }

    @Test
    void tilesThatMultiplyWronglyAreNotUsed() {
        assumeTrue(Processor.probe().features().contains(Processor.Feature.BF16));
        AmxInterpreter right = AmxInterpreter.anywhere();
        CpuOptions auto = CpuOptions.of(1);
        try (MachineCode code = MachineCode.withTiles(auto, right.kernels(), "the best")) {
            assertThat(code.describe()).startsWith("amx, bfloat16 for quantized");
            assertThat(code.describe(List.of(DataType.Q8_0, DataType.F16)))
                    .endsWith("q8_0 in bfloat16 in AMX tiles, f16 in float32 by AVX-512");
        }
        try (MachineCode code = MachineCode.withTiles(auto, AmxInterpreter.idle(), "the best")) {
            assertThat(code.describe())
                    .startsWith("bf16, bfloat16 for quantized")
                    .contains("(the best, but the AMX tiles of this processor multiply wrongly: "
                            + Panel.typesWithScales().getFirst().label() + ", row 0 of 3");
        }
        CpuOptions amx = auto.with(CpuPath.AMX);
        assertThatThrownBy(() -> MachineCode.withTiles(amx, AmxInterpreter.idle(), "asked for"))
                .isInstanceOf(DeviceException.class)
                .hasMessageContaining("the path amx is not to be had here");
    }

    /** A safepoint waits for a call, whose weights come from memory. */
    @Test
    void aCallOnVeryLongRowsTakesFewOfThem() {
        for (int columns : new int[] {32, 2048, 5632, 8192, 14_336, 28_672, 131_072}) {
            for (int rows : new int[] {1, 4, 5, 32}) {
                int panels = AmxGemm.panels(rows, columns);
                assertThat(panels).isIn(4, 8, 12, 16);
                assertThat((long) panels * Panel.OUTPUTS * columns)
                        .isLessThanOrEqualTo(Math.max(1 << 21, 4L * Panel.OUTPUTS * columns));
            }
            assertThat(AmxGemm.panels(33, columns)).isEqualTo(16);
        }
        assertThat(AmxGemm.panels(1, 8192)).isEqualTo(16);
        assertThat(AmxGemm.panels(1, 28_672)).isEqualTo(4);
    }

    @Test
    void anOrderThatDependsOnTheNumberOfRowsIsFound() {
        var contract = new GemmContract(2_025, GemmContract.VECTOR, (device, input, weight, output, rows) -> {
            device.operations().linear(input, weight, Epilogue.PLAIN, output, rows);
            if (rows > 4) {
                resumOneRowBackwards(input, weight, output);
            }
        });
        assertThat(contract.faults()).anyMatch(fault -> fault.contains("5 rows") && fault.contains("the twin says"));
    }

    /** The saboteur: row 1 is summed from its last number to its first. */
    private static void resumOneRowBackwards(Rows input, CpuWeight weight, Rows output) {
        float[] numbers = new float[weight.columns()];
        for (int n = 0; n < weight.rows(); n++) {
            weight.dequantizeRow(n, numbers);
            float sum = 0;
            for (int k = numbers.length - 1; k >= 0; k--) {
                sum += numbers[k] * CpuBuffer.number(CpuBuffer.of(input), CpuBuffer.row(input, 1) + k);
            }
            CpuBuffer.number(CpuBuffer.of(output), CpuBuffer.row(output, 1) + n, sum);
        }
    }

    /** Narrower vectors than those that the tests above have met in this very process. */
    static IntStream forcedWidths() {
        return IntStream.of(128, 256, 512).filter(bits -> bits < Lanes.COUNT * Float.SIZE);
    }

    @Tag("long")
    @ParameterizedTest(allowZeroInvocations = true)
    @MethodSource("forcedWidths")
    void everyFormatMultipliesAsItsScalarTwinAtAForcedWidth(int bits) {
        String said = ChildJvm.run(List.of("-XX:MaxVectorSize=" + bits / 8), GemmContract.class)
                .success();
        assertThat(said).contains("lanes " + bits / Float.SIZE + ", faults 0");
    }
}
