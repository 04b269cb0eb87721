package roselle.cpu.machine.amx;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import roselle.cpu.machine.Compute;
import roselle.cpu.machine.GuardedMemory;
import roselle.cpu.machine.Processor;
import roselle.cpu.machine.Processor.Feature;
import roselle.cpu.machine.SystemCalls;
import roselle.cpu.machine.amx.AmxKernels.Runner;
import roselle.cpu.machine.panel.BrainFloat;
import roselle.cpu.machine.panel.Panel;
import roselle.tensor.DataType;

/** The kernels of AMX against their scalar twin, bit for bit: on a processor that has tiles, and else in an interpreter. */
class AmxKernelsTest {
    private final Random random = new Random(90);

    static Stream<DataType> blocks() {
        return Stream.of(DataType.values())
                .filter(type ->
                        Panel.of(type, Compute.BF16).filter(Panel::hasScales).isPresent());
    }

    static List<DataType> kinds() {
        return Panel.typesWithScales();
    }

    private static void assume(Feature feature) {
        assumeTrue(Processor.probe().features().contains(feature), "the processor has no " + feature);
    }

    @ParameterizedTest
    @MethodSource("blocks")
    void unpackedPanelsHoldTheNumbersOfTheTwin(DataType type) {
        assume(Feature.BF16);
        int columns = 3 * AmxKernels.UNIT;
        Panel panel = Panel.of(type, Compute.BF16).orElseThrow();
        for (int panels = 1; panels <= 3; panels++) {
            for (int from = 0; from < columns; from += AmxKernels.UNIT) {
                unpacked(type, panel, columns, panels, from, columns);
                unpacked(type, panel, columns, panels, from, from + AmxKernels.UNIT);
            }
        }
    }

    private void unpacked(DataType type, Panel panel, int columns, int panels, int from, int to) {
        long bytes = panels * panel.bytes(columns);
        long targetBytes = (long) panels * (to - from) * AmxKernels.BYTES_PER_COLUMN;
        try (var source = new GuardedMemory(bytes);
                var target = new GuardedMemory(targetBytes);
                var kernels = AmxKernels.open().orElseThrow()) {
            MemorySegment weights = panels % 2 == 0 ? source.upToTheEnd(bytes) : source.fromTheStart(bytes);
            MemorySegment numbers = panels % 2 == 0 ? target.upToTheEnd(targetBytes) : target.fromTheStart(targetBytes);
            fill(weights);
            AmxKernels.Call call = kernels.call();
            call.weights(panel, type, columns);
            assertThat(call.isUnpacked()).isTrue();
            call.unpack(weights.address(), panels, from, to, numbers.address());
            for (int n = 0; n < panels * Panel.OUTPUTS; n++) {
                long at = n / Panel.OUTPUTS * panel.bytes(columns);
                float[] want = AmxTwin.weights(panel, type, weights, at, n % Panel.OUTPUTS, columns);
                for (int k = from; k < to; k++) {
                    float got = bfloat16(numbers, to - from, n, k - from);
                    if (Float.floatToIntBits(got) != Float.floatToIntBits(want[k])) { // NaN equals NaN
                        throw new AssertionError(type + ", output " + n + ", k " + k + ": " + got + " for " + want[k]);
                    }
                }
            }
        }
    }

    /** A number of an output in panels of bfloat16 that lie next to each other. */
    private static float bfloat16(MemorySegment panels, int columns, int output, int k) {
        long panel = (long) output / Panel.OUTPUTS * columns * AmxKernels.BYTES_PER_COLUMN;
        long at = panel + k / 2 * 64L + output % Panel.OUTPUTS * 4L + k % 2 * 2L;
        return BrainFloat.toFloat(panels.get(JAVA_SHORT_UNALIGNED, at));
    }

    /** Any bits at all: infinities, NaN and subnormal numbers among them. */
    private void fill(MemorySegment memory) {
        var bytes = new byte[(int) memory.byteSize()];
        random.nextBytes(bytes);
        MemorySegment.copy(bytes, 0, memory, JAVA_BYTE, 0, bytes.length);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void productsEqualTheirTwinAtEachNumberOfRowsAndPanels(boolean isInterpreted) {
        if (!isInterpreted) {
            assume(Feature.AMX);
        }
        for (int rows = 1; rows <= AmxKernels.MAX_ROWS; rows++) {
            for (int panels = 1; panels <= 5; panels++) {
                boolean isUpToTheEnd = (rows + panels) % 2 == 0;
                for (boolean isSplit : new boolean[] {false, true}) {
                    try (var product = new VectorGemm(rows, panels, 1 + (rows + panels) % 3, isUpToTheEnd, isSplit)) {
                        product.run(isInterpreted ? product.interpreter() : SystemCalls::call);
                        product.compare();
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("blocks")
    void aFewRowsInRegistersHaveTheBitsOfTheTwinOfTiles(DataType type) {
        assume(Feature.BF16);
        Panel panel = Panel.of(type, Compute.BF16).orElseThrow();
        for (int rows = 1; rows <= AmxKernels.FEW_ROWS; rows++) {
            for (int panels = 1; panels <= 3; panels++) {
                inRegisters(type, panel, rows, panels, panel.unit() * (1 + (rows + panels) % 3), false);
            }
            inRegisters(type, panel, rows, 2, 2 * AmxKernels.UNIT, true);
        }
    }

    /** A number just below a power of two, which few are, becomes that power. */
    @ParameterizedTest
    @MethodSource("kinds")
    void registersRoundAsTilesDo(DataType type) {
        assume(Feature.BF16);
        Panel panel = Panel.of(type, Compute.BF16).orElseThrow();
        for (int i = 0; i < 20; i++) {
            inRegisters(type, panel, 2, 3, 3 * AmxKernels.UNIT, false);
        }
    }

    /** The formula of {@link AmxRowCode}, of all numbers of one power of two; others differ by their exponent alone. */
    @Test
    void aFusedDifferenceRoundsToBfloat16() {
        float beyond = AmxRowCode.BEYOND_BFLOAT16;
        for (int bits = Float.floatToRawIntBits(1); bits <= Float.floatToRawIntBits(2); bits++) {
            float w = Float.intBitsToFloat(bits);
            float rounded = Math.fma(beyond, w, -Math.fma(beyond, w, -w));
            if (rounded != BrainFloat.toFloat(BrainFloat.of(w))) {
                throw new AssertionError(w + " becomes " + rounded);
            }
        }
    }

    private void inRegisters(DataType type, Panel panel, int rows, int panels, int columns, boolean isAnything) {
        long stride = columns * 4L + 64; // with a line between rows that nobody reads
        long inputBytes = (rows - 1) * stride + columns * 4L;
        long weightBytes = panels * panel.bytes(columns);
        long width = (long) panels * Panel.OUTPUTS;
        try (var x = new GuardedMemory(inputBytes);
                var memory = new GuardedMemory(weightBytes);
                var sums = new GuardedMemory(rows * width * Float.BYTES);
                var kernels = AmxKernels.open().orElseThrow()) {
            boolean isUpToTheEnd = (rows + panels) % 2 == 0;
            MemorySegment input = isUpToTheEnd ? x.upToTheEnd(inputBytes) : x.fromTheStart(inputBytes);
            MemorySegment weights = isUpToTheEnd ? memory.upToTheEnd(weightBytes) : memory.fromTheStart(weightBytes);
            long outputBytes = rows * width * Float.BYTES;
            MemorySegment output = isUpToTheEnd ? sums.upToTheEnd(outputBytes) : sums.fromTheStart(outputBytes);
            fill(weights);
            limitScales(weights, panel, columns);
            var rowsOfX = new float[rows][columns];
            for (int r = 0; r < rows; r++) {
                for (int k = 0; k < columns; k++) {
                    float any = Float.intBitsToFloat(random.nextInt() & 0xFFFF0000);
                    rowsOfX[r][k] = isAnything
                            ? any
                            : BrainFloat.toFloat(BrainFloat.of((float) random.nextGaussian() * (r == 1 ? 1e-37f : 1)));
                    input.set(JAVA_FLOAT_UNALIGNED, r * stride + 4L * k, rowsOfX[r][k]);
                }
            }
            AmxKernels.Call call = kernels.call();
            call.weights(panel, type, columns);
            call.multiplyFew(
                    input.address(), stride, rows, weights.address(), panels, output.address(), width * Float.BYTES);
            for (int n = 0; n < width; n++) {
                long at = n / Panel.OUTPUTS * panel.bytes(columns);
                float[] numbers = AmxTwin.weights(panel, type, weights, at, n % Panel.OUTPUTS, columns);
                for (int r = 0; r < rows; r++) {
                    float want = AmxTwin.dot(numbers, rowsOfX[r]);
                    float got = output.get(JAVA_FLOAT_UNALIGNED, (r * width + n) * Float.BYTES);
                    assertThat(Float.floatToIntBits(got)) // NaN equals NaN
                            .as("%s, row %d of %d, output %d: %s for %s", type, r, rows, n, got, want)
                            .isEqualTo(Float.floatToIntBits(want));
                }
            }
        }
    }

    /** Makes all scales and minima finite, as weights in registers need them. */
    private static void limitScales(MemorySegment panels, Panel panel, int columns) {
        for (long at = 0; at < panels.byteSize(); at += panel.bytes(columns)) {
            for (int unit = 0; unit < panel.units(columns); unit++) {
                limit(panels, at + panel.scalesAt(columns) + (long) unit * panel.scaleBytes());
                if (panel.hasMinima()) {
                    limit(panels, at + panel.minimaAt(columns) + (long) unit * panel.minimumBytes());
                }
            }
        }
    }

    private static void limit(MemorySegment panels, long from) {
        for (long at = from; at < from + Panel.OUTPUTS * Short.BYTES; at += Short.BYTES) {
            short half = panels.get(JAVA_SHORT_UNALIGNED, at);
            boolean isFinite = Float.isFinite(Float.float16ToFloat(half));
            panels.set(JAVA_SHORT_UNALIGNED, at, isFinite ? half : (short) (half & 0xBFFF));
        }
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void aScaleThatIsNotFiniteIsSeen(DataType type) {
        Panel panel = Panel.of(type, Compute.BF16).orElseThrow();
        int columns = 3 * AmxKernels.UNIT;
        try (var arena = Arena.ofConfined()) {
            MemorySegment two = arena.allocate(2 * panel.bytes(columns), 64);
            fill(two);
            limitScales(two, panel, columns);
            long second = panel.bytes(columns);
            assertThat(panel.hasFiniteScales(two, second, columns)).isTrue();
            for (float wrong : new float[] {Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY, Float.NaN}) {
                long lastUnit = panel.units(columns) - 1L;
                long scale = second + panel.scalesAt(columns) + lastUnit * panel.scaleBytes() + 2L * random.nextInt(16);
                short before = two.get(JAVA_SHORT, scale);
                two.set(JAVA_SHORT, scale, Float.floatToFloat16(wrong));
                assertThat(panel.hasFiniteScales(two, second, columns)).isFalse();
                assertThat(panel.hasFiniteScales(two, 0, columns)).isTrue();
                two.set(JAVA_SHORT, scale, before);
                if (panel.hasMinima()) {
                    long minimum = second + panel.minimaAt(columns) + lastUnit * panel.minimumBytes();
                    before = two.get(JAVA_SHORT, minimum);
                    two.set(JAVA_SHORT, minimum, Float.floatToFloat16(wrong));
                    assertThat(panel.hasFiniteScales(two, second, columns)).isFalse();
                    two.set(JAVA_SHORT, minimum, before);
                }
            }
        }
    }

    @Test
    void subnormalNumbersAreNumbersAgainAfterwards() {
        assume(Feature.BF16);
        inRegisters(DataType.Q8_0, Panel.of(DataType.Q8_0, Compute.BF16).orElseThrow(), 1, 1, 32, false);
        float half = random.nextFloat() < 2 ? 0.5f : 1;
        assertThat(Float.MIN_NORMAL * half * half).isPositive();
    }

    @Test
    void anOrderOfSumsThatRegistersDoNotHaveIsSeen() {
        assume(Feature.BF16);
        AmxInterpreter interpreter = AmxInterpreter.anywhere();
        assertThat(proof(interpreter).agreesInRegisters()).isTrue();
        AmxProof.Result other = proof((code, argument) -> {
            interpreter.run(code, argument);
            long beyond = at(argument, AmxGemmCode.SIZE).get(JAVA_LONG, AmxGemmCode.OUTPUT);
            MemorySegment last = at(beyond - Float.BYTES, Float.BYTES); // of the first row
            last.set(JAVA_FLOAT_UNALIGNED, 0, Math.nextUp(last.get(JAVA_FLOAT_UNALIGNED, 0)));
        });
        assertThat(other.fault()).as("a last bit is borne").isEmpty();
        assertThat(other.agreesInRegisters()).isFalse();
    }

    /** Operands of a product, each where a byte more or less is not there. */
    private final class VectorGemm implements AutoCloseable {
        private final int rows;
        private final int panels;
        private final int columns;
        private final boolean isSplit;
        private final int step;
        private final long stride;
        private final GuardedMemory x;
        private final GuardedMemory weights;
        private final GuardedMemory outputs;
        private final MemorySegment input;
        private final MemorySegment numbers;
        private final MemorySegment output;

        VectorGemm(int rows, int panels, int steps, boolean isUpToTheEnd, boolean isSplit) {
            this.rows = rows;
            this.panels = panels;
            this.isSplit = isSplit;
            step = AmxGemmCode.DEPTH * (isSplit ? 2 : 1);
            columns = steps * step; // the rounded numbers and, of 32 each time, what is left of them
            stride = columns * 2L + 64; // with a line between rows that nobody reads
            long inputBytes = (rows - 1) * stride + columns * 2L;
            long weightBytes = (long) panels * columns * AmxKernels.BYTES_PER_COLUMN;
            long outputBytes = (long) rows * width() * Float.BYTES;
            x = new GuardedMemory(inputBytes);
            weights = new GuardedMemory(weightBytes);
            outputs = new GuardedMemory(outputBytes);
            input = isUpToTheEnd ? x.upToTheEnd(inputBytes) : x.fromTheStart(inputBytes);
            numbers = isUpToTheEnd ? weights.upToTheEnd(weightBytes) : weights.fromTheStart(weightBytes);
            output = isUpToTheEnd ? outputs.upToTheEnd(outputBytes) : outputs.fromTheStart(outputBytes);
            fill(input);
            for (int r = 0; r < rows; r++) {
                for (int k = 0; k < columns && r % 5 != 1; k++) { // the other rows keep any bits at all
                    input.set(JAVA_SHORT_UNALIGNED, r * stride + 2L * k, BrainFloat.of((float) random.nextGaussian()));
                }
            }
            for (long at = 0; at < weightBytes; at += 2) {
                numbers.set(JAVA_SHORT_UNALIGNED, at, BrainFloat.of((float) random.nextGaussian()));
            }
        }

        private int width() {
            return panels * Panel.OUTPUTS;
        }

        Runner interpreter() {
            return AmxInterpreter.within(input, numbers, output);
        }

        /** The first step alone, then the others on top of it. */
        void run(Runner runner) {
            try (var kernels = AmxKernels.open(runner).orElseThrow()) {
                AmxKernels.Call call = kernels.call();
                call.panel(isSplit ? Panel.SPLIT : Panel.BFLOAT16);
                call.distances(stride, (long) width() * Float.BYTES, (long) columns * AmxKernels.BYTES_PER_COLUMN);
                call.depth(AmxGemmCode.DEPTH, false);
                call.multiply(input.address(), rows, numbers.address(), panels, output.address());
                if (columns > step) {
                    call.depth((columns / step - 1) * AmxGemmCode.DEPTH, true);
                    long next = numbers.address() + (long) step * AmxKernels.BYTES_PER_COLUMN;
                    call.multiply(input.address() + step * 2L, rows, next, panels, output.address());
                }
            }
        }

        void compare() {
            for (int r = 0; r < rows; r++) {
                var row = new float[columns];
                for (int k = 0; k < columns; k++) {
                    row[k] = BrainFloat.toFloat(input.get(JAVA_SHORT_UNALIGNED, r * stride + 2L * k));
                }
                for (int n = 0; n < width(); n++) {
                    var weight = new float[columns];
                    for (int k = 0; k < columns; k++) {
                        weight[k] = bfloat16(numbers, columns, n, k);
                    }
                    float want = isSplit ? AmxTwin.splitDotInTurns(weight, row) : AmxTwin.dot(weight, row);
                    float got = output.getAtIndex(JAVA_FLOAT, (long) r * width() + n);
                    if (Float.floatToIntBits(got) != Float.floatToIntBits(want)) {
                        String place = "row " + r + " of " + rows + ", output " + n + " of " + width();
                        throw new AssertionError(place + ": " + got + ", the twin says " + want);
                    }
                }
            }
        }

        @Override
        public void close() {
            x.close();
            weights.close();
            outputs.close();
        }
    }

    @Test
    void theProofPassesAndFindsWhatIsWrong() {
        assume(Feature.BF16);
        assertThat(fault(AmxInterpreter.anywhere())).isEmpty();
        AmxInterpreter interpreter = AmxInterpreter.anywhere();
        assertThat(fault((code, argument) -> {})).as("nothing is done").contains("row 0 of 3");
        assertThat(fault((code, argument) -> {
                    MemorySegment arguments = at(argument, AmxGemmCode.SIZE);
                    arguments.set(JAVA_LONG, AmxGemmCode.CONTINUES, 0);
                    interpreter.run(code, argument);
                }))
                .as("sums are not taken up again")
                .contains("is right");
        assertThat(fault((code, argument) -> {
                    long beyond = at(argument, AmxGemmCode.SIZE).get(JAVA_LONG, AmxGemmCode.OUTPUT);
                    interpreter.run(code, argument);
                    at(beyond + 3 * 5 * Panel.OUTPUTS * Float.BYTES, 64).fill((byte) 1);
                }))
                .as("a row too many")
                .contains("more than these was written");
    }

    @SuppressWarnings("restricted")
    private static MemorySegment at(long address, long bytes) {
        return MemorySegment.ofAddress(address).reinterpret(bytes);
    }

    private static String fault(Runner runner) {
        return proof(runner).fault();
    }

    private static AmxProof.Result proof(Runner runner) {
        try (var kernels = AmxKernels.open(runner).orElseThrow()) {
            return AmxProof.of(kernels);
        }
    }

    @Test
    void theProofPassesOnThisProcessorWhereItHasTiles() {
        assume(Feature.AMX);
        AmxProof.Result result = proof(SystemCalls::call);
        assertThat(result.fault()).isEmpty();
        assertThat(result.agreesInRegisters()).isTrue();
    }

    @Test
    void theInterpreterRefusesWhatAProcessorWouldNotForgive() {
        try (var arena = Arena.ofConfined()) {
            MemorySegment operand = arena.allocate(1024, 64);
            MemorySegment argument = arena.allocate(AmxGemmCode.SIZE, 64);
            AmxInterpreter interpreter = AmxInterpreter.within(operand);
            for (var each : List.of(new Wrong(List.of(0xC3), ""), new Wrong(List.of(0x90), "an unknown opcode"))) {
                var code = arena.allocate(8);
                code.set(JAVA_BYTE, 0, each.bytes.getFirst().byteValue());
                if (each.said.isEmpty()) {
                    interpreter.run(code, argument.address());
                } else {
                    assertThatThrownBy(() -> interpreter.run(code, argument.address()))
                            .hasMessageContaining(each.said);
                }
            }
            byte[] product = AmxGemmCode.of(1, 1, false);
            MemorySegment code = arena.allocate(product.length);
            MemorySegment.copy(product, 0, code, JAVA_BYTE, 0, product.length);
            MemorySegment configuration = arena.allocate(64, 64);
            argument.set(JAVA_LONG, AmxGemmCode.CONFIGURATION, configuration.address());
            assertThatThrownBy(() -> interpreter.run(code, argument.address())).hasMessageContaining("palette 1");
            MemorySegment.copy(AmxGemmCode.configuration(3, false), 0, configuration, JAVA_BYTE, 0, 64);
            argument.set(JAVA_LONG, AmxGemmCode.GROUPS, 1);
            argument.set(JAVA_LONG, AmxGemmCode.STEPS, 1);
            argument.set(JAVA_LONG, AmxGemmCode.INPUT, operand.address() + 1000);
            assertThatThrownBy(() -> interpreter.run(code, argument.address()))
                    .hasMessageContaining("not in an operand");
            short number = BrainFloat.of(1);
            assertThat(number).isEqualTo((short) 0x3F80);
            operand.set(JAVA_SHORT, 0, number);
        }
    }

    private record Wrong(List<Integer> bytes, String said) {}
}
