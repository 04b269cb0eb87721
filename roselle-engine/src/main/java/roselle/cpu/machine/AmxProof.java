package roselle.cpu.machine;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import roselle.tensor.DataType;

/**
 * Runs each routine of {@link AmxKernels} once on small numbers and compares it with its scalar twin, before anyone relies
 * on it: most machines on which this code was written and tested had no tiles.
 */
public final class AmxProof {
    private static final int PANELS = 5;
    private static final int COLUMNS = 256;
    private static final int EVERY = 7; // one of so many outputs is compared
    private static final long INPUT_BYTES = (long) COLUMNS * Short.BYTES;
    private static final int WIDTH = PANELS * Panel.OUTPUTS;
    private static final float UNTOUCHED = 123_456;

    private final AmxKernels.Call call;
    private final Random random = new Random(16);
    private final MemorySegment input;
    private final MemorySegment outputs;
    private final MemorySegment unpacked;
    private final float[][] x = new float[AmxKernels.MOST_ROWS][];

    private AmxProof(AmxKernels kernels, Arena arena) {
        call = kernels.call();
        input = arena.allocate(x.length * INPUT_BYTES, 64);
        outputs = arena.allocate((x.length + 1L) * WIDTH * Float.BYTES, 64);
        unpacked = arena.allocate((long) PANELS * COLUMNS * AmxKernels.BYTES_PER_COLUMN, 64);
        for (int r = 0; r < x.length; r++) {
            x[r] = new float[COLUMNS];
            for (int k = 0; k < COLUMNS; k++) {
                short number = BrainFloat.of(random.nextFloat() - 0.5f);
                x[r][k] = BrainFloat.toFloat(number);
                input.set(JAVA_SHORT, r * INPUT_BYTES + (long) k * Short.BYTES, number);
            }
        }
    }

    /** What differs from the twin; empty where nothing does. */
    public static String fault(AmxKernels kernels) {
        try (var arena = Arena.ofConfined()) {
            var proof = new AmxProof(kernels, arena);
            for (DataType type :
                    new DataType[] {DataType.Q8_0, DataType.Q4_0, DataType.Q4_K, DataType.Q6_K, DataType.BF16}) {
                String fault = proof.fault(arena, type);
                if (!fault.isEmpty()) {
                    return fault;
                }
            }
            return "";
        }
    }

    private String fault(Arena arena, DataType type) {
        Panel panel = Panel.of(type, Compute.BF16).orElseThrow();
        MemorySegment weights = arena.allocate(PANELS * panel.bytes(COLUMNS), 64);
        fill(panel, weights);
        call.weights(panel, type, COLUMNS);
        call.distances(INPUT_BYTES, (long) WIDTH * Float.BYTES, (long) COLUMNS * AmxKernels.BYTES_PER_COLUMN);
        long from = weights.address();
        if (call.isUnpacked()) {
            call.unpack(from, PANELS, 0, COLUMNS, unpacked.address());
            from = unpacked.address();
        }
        var numbers = new float[WIDTH][];
        for (int n = 0; n < WIDTH; n += EVERY) {
            long at = n / Panel.OUTPUTS * panel.bytes(COLUMNS);
            numbers[n] = AmxTwin.weights(panel, type, weights, at, n % Panel.OUTPUTS, COLUMNS);
        }
        int[] counts = type == DataType.BF16 ? new int[] {1, 16, 17, 32} : new int[] {3};
        for (int rows : counts) {
            multiply(from, rows);
            String fault = compare(type, rows, numbers);
            if (!fault.isEmpty()) {
                return fault;
            }
        }
        return "";
    }

    /** In two halves of k, so that sums are taken up again. */
    private void multiply(long from, int rows) {
        for (int i = 0; i <= rows * WIDTH; i++) {
            outputs.setAtIndex(JAVA_FLOAT, i, UNTOUCHED);
        }
        int half = COLUMNS / 2;
        call.depth(half, false);
        call.multiply(input.address(), rows, from, PANELS, outputs.address());
        call.depth(half, true);
        long second = from + (long) half * AmxKernels.BYTES_PER_COLUMN;
        call.multiply(input.address() + INPUT_BYTES / 2, rows, second, PANELS, outputs.address());
    }

    private String compare(DataType type, int rows, float[][] numbers) {
        for (int r = 0; r < rows; r++) {
            for (int n = 0; n < WIDTH; n += EVERY) {
                float want = AmxTwin.dot(numbers[n], x[r]);
                float got = outputs.getAtIndex(JAVA_FLOAT, (long) r * WIDTH + n);
                // an order of sums other than the manual's is borne, other numbers are not
                if (!(Math.abs(got - want) <= magnitude(numbers[n], x[r]) * 1e-5f)) {
                    return type.label() + ", row " + r + " of " + rows + ": " + got + " where " + want + " is right";
                }
            }
        }
        boolean isIntact = outputs.getAtIndex(JAVA_FLOAT, (long) rows * WIDTH) == UNTOUCHED;
        return isIntact ? "" : type.label() + ", " + rows + " rows: more than these was written";
    }

    private static float magnitude(float[] weights, float[] x) {
        float sum = Float.MIN_NORMAL;
        for (int k = 0; k < x.length; k++) {
            sum += Math.abs(weights[k] * x[k]);
        }
        return sum;
    }

    /** Random codes; scales and weights are small numbers. */
    private void fill(Panel panel, MemorySegment weights) {
        var bytes = new byte[Math.toIntExact(weights.byteSize())];
        random.nextBytes(bytes);
        MemorySegment.copy(bytes, 0, weights, JAVA_BYTE, 0, bytes.length);
        for (long at = 0; at < weights.byteSize(); at += panel.bytes(COLUMNS)) {
            if (!panel.hasScales()) {
                smallNumbers(weights, at, at + panel.bytes(COLUMNS), false);
                continue;
            }
            int units = panel.units(COLUMNS);
            for (int unit = 0; unit < units; unit++) {
                long scales = at + panel.scalesAt(COLUMNS) + (long) unit * panel.scaleBytes;
                smallNumbers(weights, scales, scales + 32, true);
                long minima = at + panel.minimaAt(COLUMNS) + (long) unit * panel.minimumBytes;
                smallNumbers(weights, minima, minima + (panel.hasMinima() ? 32 : 0), true);
            }
        }
    }

    private void smallNumbers(MemorySegment weights, long from, long to, boolean isHalf) {
        for (long at = from; at < to; at += Short.BYTES) {
            float number = random.nextFloat() - 0.5f;
            weights.set(JAVA_SHORT, at, isHalf ? Float.floatToFloat16(number) : BrainFloat.of(number));
        }
    }
}
