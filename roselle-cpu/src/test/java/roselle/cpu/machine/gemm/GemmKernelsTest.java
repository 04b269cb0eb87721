package roselle.cpu.machine.gemm;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import roselle.cpu.machine.Compute;
import roselle.cpu.machine.ExecutableMemory;
import roselle.cpu.machine.GuardedMemory;
import roselle.cpu.machine.InstructionSet;
import roselle.cpu.machine.MemoryMap;
import roselle.cpu.machine.Processor;
import roselle.cpu.machine.Processor.Feature;
import roselle.cpu.machine.SystemCalls;
import roselle.cpu.machine.panel.BrainFloat;
import roselle.cpu.machine.panel.Panel;
import roselle.cpu.machine.panel.PanelPacker;
import roselle.tensor.BlockFactor;
import roselle.tensor.BlockFields;
import roselle.tensor.DataType;

/** Every emitted kernel against its scalar twin, bit for bit, at each number of rows and panels, under guard pages. */
class GemmKernelsTest {
    private static final List<DataType> TYPES = Stream.of(DataType.values())
            .filter(type -> Panel.of(type, Compute.F32).isPresent())
            .toList();

    record Case(InstructionSet set, Compute compute, DataType type) {}

    static List<Case> cases() {
        var cases = new ArrayList<Case>();
        var features = Processor.probe().features();
        for (DataType type : TYPES) {
            if (features.contains(Feature.AVX2)) {
                cases.add(new Case(InstructionSet.AVX2, Compute.F32, type));
                if (Panel.of(type, Compute.INT8).isPresent()) {
                    cases.add(new Case(InstructionSet.AVX2, Compute.INT8, type));
                }
            }
            if (features.contains(Feature.AVX512)) {
                cases.add(new Case(InstructionSet.AVX512, Compute.F32, type));
            }
            if (features.contains(Feature.VNNI) && Panel.of(type, Compute.INT8).isPresent()) {
                cases.add(new Case(InstructionSet.AVX512, Compute.INT8, type));
            }
            if (features.contains(Feature.BF16)) {
                cases.add(new Case(InstructionSet.AVX512, Compute.BF16, type));
            }
        }
        return cases;
    }

    @Test
    void theProbeNamesWhatItFoundOrWhyItFoundNothing() {
        Processor processor = Processor.probe();
        assertThat(processor.toString()).isNotBlank();
        assertThat(processor.features().isEmpty() || processor.obstacle().isEmpty())
                .isTrue();
        if (processor.features().contains(Feature.BF16)) {
            assertThat(processor.features()).contains(Feature.AVX512, Feature.AVX2);
        }
    }

    @Test
    void codeIsNoLongerWritableOnceItRuns() {
        assumeTrue(Processor.probe().features().contains(Feature.AVX2));
        try (var memory = ExecutableMemory.of(List.of(new byte[] {(byte) 0xC3})).orElseThrow()) {
            SystemCalls.call(memory.routines().getFirst(), 0);
            String place = Long.toHexString(memory.routines().getFirst().address());
            assertThat(MemoryMap.lineOf(place)).contains("r-xp");
        }
    }

    @ParameterizedTest(allowZeroInvocations = true)
    @MethodSource("cases")
    void equalsItsTwinUnderGuardPages(Case each) {
        int unit = Panel.of(each.type, each.compute).orElseThrow().unit();
        for (int columns : each.type.isQuantized() ? new int[] {unit, 3 * unit} : new int[] {1, 31, 32, 33, 100}) {
            try (var check = new Check(each, columns)) {
                check.conversions();
                check.products();
            }
        }
    }

    /** Weights of five panels less seven rows, activations of twelve rows, all where a byte more or less is not there. */
    private static final class Check implements AutoCloseable {
        private static final int OUTPUTS = 5 * Panel.OUTPUTS - 7;

        private final Random random = new Random(25);
        private final Case each;
        private final Panel panel;
        private final int columns;
        private final int padded;
        private final GemmKernels kernels;
        private final GemmKernels.Call call;
        private final Arena arena = Arena.ofShared();
        private final MemorySegment weights;
        private final float[][] x = new float[GemmKernels.MAX_ROWS][];
        private final long rowBytes;
        private final MemorySegment activations;

        Check(Case each, int columns) {
            this.each = each;
            this.columns = columns;
            panel = Panel.of(each.type, each.compute).orElseThrow();
            padded = panel.paddedColumns(columns);
            kernels = GemmKernels.open(each.compute, each.set).orElseThrow();
            call = kernels.call();
            call.weights(panel, each.type, columns);
            weights = packed();
            rowBytes = kernels.rowBytes(padded);
            activations = arena.allocate(rowBytes * x.length, 64);
        }

        private MemorySegment packed() {
            long sourceRow = each.type.rowBytes(columns);
            MemorySegment source = arena.allocate(sourceRow * OUTPUTS);
            fill(source);
            MemorySegment target = arena.allocate(Panel.count(OUTPUTS) * panel.bytes(columns), 64);
            var packer = new PanelPacker(panel, each.type, columns);
            for (int p = 0; p < Panel.count(OUTPUTS); p++) {
                int rows = Math.min(Panel.OUTPUTS, OUTPUTS - p * Panel.OUTPUTS);
                packer.pack(source, (long) p * Panel.OUTPUTS * sourceRow, rows, target, p * panel.bytes(columns));
            }
            return target;
        }

        private void fill(MemorySegment source) {
            byte[] bytes = new byte[(int) source.byteSize()];
            random.nextBytes(bytes);
            MemorySegment.copy(bytes, 0, source, JAVA_BYTE, 0, bytes.length);
            for (long at = 0; at < bytes.length; at += each.type.blockBytes()) {
                float number = (float) random.nextGaussian();
                short half = Float.floatToFloat16(number);
                switch (each.type) {
                    case BF16 -> source.set(JAVA_SHORT_UNALIGNED, at, BrainFloat.of(number));
                    case F16 -> source.set(JAVA_SHORT_UNALIGNED, at, half);
                    case F32 -> source.set(java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED, at, number);
                    default -> {
                        BlockFields fields = each.type.fields().orElseThrow();
                        source.set(JAVA_SHORT_UNALIGNED, at + fields.scale().at(), half);
                        BlockFactor minimum = fields.minimum();
                        if (minimum != null) {
                            source.set(JAVA_SHORT_UNALIGNED, at + minimum.at(), half);
                        }
                    }
                }
            }
        }

        /** Converts each row from guarded memory to guarded memory, and keeps it for the products. */
        void conversions() {
            try (var from = new GuardedMemory(padded * 4L);
                    var to = new GuardedMemory(rowBytes)) {
                for (int r = 0; r < x.length; r++) {
                    x[r] = new float[columns];
                    MemorySegment source = r % 2 == 0 ? from.upToTheEnd(padded * 4L) : from.fromTheStart(padded * 4L);
                    source.fill((byte) 0);
                    for (int k = 0; k < columns; k++) {
                        x[r][k] = number(r, k);
                        source.setAtIndex(JAVA_FLOAT, k, x[r][k]);
                    }
                    MemorySegment target = r % 2 == 0 ? to.upToTheEnd(rowBytes) : to.fromTheStart(rowBytes);
                    call.convert(panel, source.address(), padded, target.address());
                    MemorySegment.copy(target, 0, activations, r * rowBytes, rowBytes);
                }
            }
        }

        private float number(int row, int k) {
            return switch (row) {
                case 2 -> k == 0 ? Float.NaN : 1;
                case 4 -> k == 0 ? Float.POSITIVE_INFINITY : 1;
                case 5 -> Float.MIN_VALUE * random.nextInt();
                default -> (float) random.nextGaussian();
            };
        }

        void products() {
            for (int rows = 1; rows <= x.length; rows++) {
                for (int panels = 1; panels <= Panel.count(OUTPUTS); panels++) {
                    products(rows, panels, true);
                    products(rows, panels, false);
                }
            }
        }

        private void products(int rows, int panels, boolean isUpToTheEnd) {
            long weightBytes = panels * panel.bytes(columns);
            long inputBytes = rows * rowBytes;
            long outputBytes = (long) rows * panels * Panel.OUTPUTS * Float.BYTES;
            try (var w = new GuardedMemory(weightBytes);
                    var in = new GuardedMemory(inputBytes);
                    var out = new GuardedMemory(outputBytes)) {
                MemorySegment wHere = isUpToTheEnd ? w.upToTheEnd(weightBytes) : w.fromTheStart(weightBytes);
                MemorySegment inHere = isUpToTheEnd ? in.upToTheEnd(inputBytes) : in.fromTheStart(inputBytes);
                MemorySegment outHere = isUpToTheEnd ? out.upToTheEnd(outputBytes) : out.fromTheStart(outputBytes);
                MemorySegment.copy(weights, 0, wHere, 0, weightBytes);
                MemorySegment.copy(activations, 0, inHere, 0, inputBytes);
                call.output((long) panels * Panel.OUTPUTS * Float.BYTES);
                call.multiply(inHere.address(), rows, wHere.address(), panels, outHere.address());
                compare(rows, panels, outHere);
            }
        }

        private void compare(int rows, int panels, MemorySegment out) {
            int width = panels * Panel.OUTPUTS;
            for (int r = 0; r < rows; r++) {
                boolean isOfBytes = each.compute == Compute.INT8;
                float[] rounded = isOfBytes
                        ? java.util.Arrays.copyOf(x[r], padded)
                        : PanelGemm.activations(x[r], columns, padded, each.compute);
                for (int n = 0; n < width; n += 5) {
                    long at = n / Panel.OUTPUTS * panel.bytes(columns);
                    int output = n % Panel.OUTPUTS;
                    float want = isOfBytes
                            ? Int8Gemm.dot(panel, each.type, weights, at, output, rounded)
                            : PanelGemm.dot(panel, each.type, weights, at, output, rounded, each.compute);
                    float got = out.getAtIndex(JAVA_FLOAT, (long) r * width + n);
                    if (Float.floatToIntBits(got) != Float.floatToIntBits(want)) { // NaN equals NaN
                        String place =
                                columns + " columns, row " + r + " of " + rows + ", output " + n + " of " + width;
                        throw new AssertionError(each + ", " + place + ": " + got + ", the twin says " + want);
                    }
                }
            }
        }

        @Override
        public void close() {
            kernels.close();
            arena.close();
        }
    }
}
