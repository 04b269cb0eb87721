package roselle.cpu.machine.amx;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import roselle.cpu.machine.Compute;
import roselle.cpu.machine.panel.BrainFloat;
import roselle.cpu.machine.panel.Panel;
import roselle.tensor.DataType;

/**
 * Runs each routine of {@link AmxKernels} on small numbers and compares some outputs with the scalar twin, before anyone
 * relies on it: most machines on which this code was written and tested had no tiles. It runs whenever a backend opens, and
 * so is sparing with what the Java interpreter has to do.
 */
public final class AmxProof {
    private static final int MAX_PANELS = 5;
    private static final long WIDTH = MAX_PANELS * Panel.OUTPUTS;
    private static final int COLUMNS = AmxKernels.UNIT;
    private static final int PLAIN_COLUMNS = 2 * AmxGemmCode.DEPTH;
    private static final int SCALED_ROWS = 3;
    private static final int[] PLAIN_ROWS = {1, 16, 17, 32};
    private static final long INPUT_BYTES = (long) COLUMNS * Short.BYTES;
    private static final float UNTOUCHED = 123_456;

    private final AmxKernels.Call call;
    private final MemorySegment input;
    private final MemorySegment outputs;
    private final MemorySegment unpacked;
    private final MemorySegment widened; // rows of float32
    private final MemorySegment others; // outputs without tiles
    private MemorySegment weights = MemorySegment.NULL;
    private long seed = 16;

    private AmxProof(AmxKernels kernels, Arena arena) {
        call = kernels.call();
        input = arena.allocate(AmxKernels.MAX_ROWS * INPUT_BYTES, 64);
        outputs = arena.allocate((AmxKernels.MAX_ROWS + 1) * WIDTH * Float.BYTES, 64);
        unpacked = arena.allocate((long) MAX_PANELS * COLUMNS * AmxKernels.BYTES_PER_COLUMN, 64);
        widened = arena.allocate((long) SCALED_ROWS * COLUMNS * Float.BYTES, 64);
        others = arena.allocate(SCALED_ROWS * WIDTH * Float.BYTES, 64);
        for (int row = 0; row < AmxKernels.MAX_ROWS; row++) {
            int columns = row < SCALED_ROWS ? COLUMNS : 2 * PLAIN_COLUMNS; // two of bfloat16 for each that is split
            smallNumbers(input, row * INPUT_BYTES, (long) columns * Short.BYTES, false);
        }
    }

    /**
     * What came out.
     *
     * @param fault what differs from the twin; empty where nothing does
     * @param agreesInRegisters whether {@link AmxKernels.Call#multiplyFew} has the bits of tiles
     */
    public record Result(String fault, boolean agreesInRegisters) {}

    /** Proves kernels. */
    public static Result of(AmxKernels kernels) {
        try (var arena = Arena.ofConfined()) {
            var proof = new AmxProof(kernels, arena);
            boolean agrees = true;
            for (DataType type : Panel.typesWithScales()) {
                Panel panel = Panel.of(type, Compute.BF16).orElseThrow();
                String fault = proof.fault(arena, type, panel, 2, COLUMNS, SCALED_ROWS);
                if (!fault.isEmpty()) {
                    return new Result(fault, false);
                }
                agrees &= proof.agreesInRegisters(2);
            }
            for (int rows : PLAIN_ROWS) {
                String fault = proof.fault(arena, DataType.BF16, Panel.BFLOAT16, MAX_PANELS, PLAIN_COLUMNS, rows);
                if (!fault.isEmpty()) {
                    return new Result(fault, false);
                }
                fault = proof.fault(arena, DataType.F32, Panel.SPLIT, MAX_PANELS, PLAIN_COLUMNS, rows);
                if (!fault.isEmpty()) {
                    return new Result(fault, false);
                }
            }
            return new Result("", agrees);
        }
    }

    /** Whether the last product, of {@link #SCALED_ROWS} rows, has the same bits without tiles. */
    private boolean agreesInRegisters(int panels) {
        long widenedBytes = (long) COLUMNS * Float.BYTES;
        for (int row = 0; row < SCALED_ROWS; row++) {
            for (int k = 0; k < COLUMNS; k++) {
                float x = BrainFloat.toFloat(input.get(JAVA_SHORT, row * INPUT_BYTES + (long) k * Short.BYTES));
                widened.set(JAVA_FLOAT, row * widenedBytes + (long) k * Float.BYTES, x);
            }
        }
        long rowBytes = WIDTH * Float.BYTES;
        call.multiplyFew(
                widened.address(), widenedBytes, SCALED_ROWS, weights.address(), panels, others.address(), rowBytes);
        for (int row = 0; row < SCALED_ROWS; row++) {
            long from = row * rowBytes;
            long to = from + (long) panels * Panel.OUTPUTS * Float.BYTES;
            if (MemorySegment.mismatch(outputs, from, to, others, from, to) >= 0) {
                return false;
            }
        }
        return true;
    }

    private String fault(Arena arena, DataType type, Panel panel, int panels, int columns, int rows) {
        boolean isSplit = panel.equals(Panel.SPLIT);
        int columnBytes = isSplit ? AmxKernels.SPLIT_BYTES_PER_COLUMN : AmxKernels.BYTES_PER_COLUMN;
        weights = arena.allocate(panels * panel.bytes(columns), 64);
        fill(panel, columns);
        call.weights(panel, type, columns);
        call.distances(INPUT_BYTES, WIDTH * Float.BYTES, (long) columns * columnBytes);
        long from = weights.address();
        if (call.isUnpacked()) {
            call.unpack(from, panels, 0, columns, unpacked.address());
            from = unpacked.address();
        }
        multiply(from, panels, columns, rows, columnBytes);
        for (int p = 0; p < panels; p++) {
            int output = (rows + 7 * p) % Panel.OUTPUTS;
            long at = p * panel.bytes(columns);
            float[] numbers =
                    isSplit ? split(at, output, columns) : AmxTwin.weights(panel, type, weights, at, output, columns);
            for (int row = 0; row < rows; row += row % AmxGemmCode.ROWS == 0 ? AmxGemmCode.ROWS - 1 : 1) {
                String fault = compare(numbers, row, p * Panel.OUTPUTS + output, isSplit);
                if (!fault.isEmpty()) {
                    return type.label() + ", row " + row + " of " + rows + ": " + fault;
                }
            }
        }
        boolean isIntact = outputs.getAtIndex(JAVA_FLOAT, rows * WIDTH) == UNTOUCHED;
        return isIntact ? "" : type.label() + ", " + rows + " rows: more than these was written";
    }

    /** In two halves of k, so that sums are taken up again. */
    private void multiply(long from, int panels, int columns, int rows, int columnBytes) {
        outputs.setAtIndex(JAVA_FLOAT, rows * WIDTH, UNTOUCHED);
        int half = columns / 2;
        call.depth(half, false);
        call.multiply(input.address(), rows, from, panels, outputs.address());
        call.depth(half, true);
        long second = from + (long) half * columnBytes;
        call.multiply(
                input.address() + (long) half * columnBytes / Panel.OUTPUTS, rows, second, panels, outputs.address());
    }

    /** An output's numbers in a panel of split ones, as they follow each other there: 32 rounded ones, then what is left of them. */
    private float[] split(long at, int output, int columns) {
        return AmxTwin.weights(Panel.BFLOAT16, DataType.BF16, weights, at, output, 2 * columns);
    }

    private String compare(float[] weights, int row, int output, boolean isSplit) {
        var x = new float[weights.length];
        float magnitude = Float.MIN_NORMAL;
        for (int k = 0; k < x.length; k++) {
            x[k] = BrainFloat.toFloat(input.get(JAVA_SHORT, row * INPUT_BYTES + (long) k * Short.BYTES));
            magnitude += Math.abs(weights[k] * x[k]);
        }
        float want = isSplit ? AmxTwin.splitDotInTurns(weights, x) : AmxTwin.dot(weights, x);
        magnitude *= isSplit ? 4 : 1; // products of a part with the other's other part are no smaller here
        float got = outputs.getAtIndex(JAVA_FLOAT, row * WIDTH + output);
        // an order of sums other than the manual's is borne, other numbers are not
        return Math.abs(got - want) <= magnitude * 1e-5f ? "" : got + " where " + want + " is right";
    }

    /** Random codes; scales and weights are small numbers. */
    private void fill(Panel panel, int columns) {
        for (long at = 0; at < weights.byteSize(); at += Long.BYTES) {
            weights.set(JAVA_LONG, at, next());
        }
        for (long at = 0; at < weights.byteSize(); at += panel.bytes(columns)) {
            if (!panel.hasScales()) {
                smallNumbers(weights, at, panel.bytes(columns), false);
            }
            for (int unit = 0; unit < panel.units(columns) && panel.hasScales(); unit++) {
                smallNumbers(weights, at + panel.scalesAt(columns) + (long) unit * panel.scaleBytes(), 32, true);
                if (panel.hasMinima()) {
                    smallNumbers(weights, at + panel.minimaAt(columns) + (long) unit * panel.minimumBytes(), 32, true);
                }
            }
        }
    }

    /** Numbers between one half and two, of either sign. */
    private void smallNumbers(MemorySegment target, long from, long bytes, boolean isHalf) {
        long odd = isHalf ? 0x83FF_83FF_83FF_83FFL : 0x80FF_80FF_80FF_80FFL;
        long exponents = isHalf ? 0x3800_3800_3800_3800L : 0x3F00_3F00_3F00_3F00L;
        for (long at = from; at < from + bytes; at += Long.BYTES) {
            target.set(JAVA_LONG, at, (next() & odd) | exponents);
        }
    }

    private long next() {
        seed = seed * 6364136223846793005L + 1442695040888963407L;
        return seed ^ seed >>> 29;
    }
}
