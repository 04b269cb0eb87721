package roselle.cpu.machine.amx;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import roselle.cpu.machine.Compute;
import roselle.cpu.machine.ExecutableMemory;
import roselle.cpu.machine.SystemCalls;
import roselle.cpu.machine.panel.Constants;
import roselle.cpu.machine.panel.Panel;
import roselle.tensor.DataType;

/** The code of products in AMX tiles, in executable memory; freed by {@link #close}. */
public final class AmxKernels implements AutoCloseable {
    /** Rows of one call at most: two tiles. */
    public static final int MAX_ROWS = 2 * AmxGemmCode.ROWS;

    /** Rows that {@link Call#multiplyFew} takes at most. */
    public static final int FEW_ROWS = AmxRowCode.ROWS;

    /** Numbers of k that all panels have a multiple of, when they are not the last of a row. */
    public static final int UNIT = 256;

    /** Bytes of a panel of bfloat16, for each number of k. */
    public static final int BYTES_PER_COLUMN = Panel.OUTPUTS * Short.BYTES;

    /** The same of a panel of split numbers. */
    public static final int SPLIT_BYTES_PER_COLUMN = 2 * BYTES_PER_COLUMN;

    /** How routines with tiles are run: by the processor, or in tests by something that stands for it. */
    public interface Runner {
        void run(MemorySegment code, long argument);
    }

    private static final List<Panel> UNPACKED = Panel.withScales();

    /** Panels side by side for one tile of rows, and for two. */
    private static final int[] PANELS = {4, 2};

    /** The same of split numbers; why, {@link AmxGemmCode} tells. */
    private static final int[] SPLIT_PANELS = {4, 1};

    private final Arena arena = Arena.ofShared();
    private final ExecutableMemory memory;
    private final Runner runner;
    private final Map<Panel, MemorySegment> unpacking = new HashMap<>();
    private final Map<Panel, MemorySegment[]> inRegisters = new HashMap<>(); // by rows - 1
    private final Products plain;
    private final Products split;
    private final Map<DataType, MemorySegment> constants = new EnumMap<>(DataType.class);

    private AmxKernels(ExecutableMemory memory, Runner runner) {
        this.memory = memory;
        this.runner = runner;
        int next = 0;
        for (Panel panel : UNPACKED) {
            unpacking.put(panel, memory.routines().get(next++));
            var byRows = new MemorySegment[FEW_ROWS];
            for (int row = 0; row < FEW_ROWS; row++) {
                byRows[row] = memory.routines().get(next++);
            }
            inRegisters.put(panel, byRows);
        }
        int products = 2 * PANELS.length;
        plain = new Products(memory.routines().subList(next, next + products), configurations(false));
        split = new Products(memory.routines().subList(next + products, next + 2 * products), configurations(true));
        for (DataType type : DataType.values()) {
            if (Panel.of(type, Compute.BF16).isPresent()) {
                constants.put(type, Constants.of(arena, type));
            }
        }
    }

    /**
     * What multiplies panels without scales.
     *
     * @param routines by tiles of rows: a panel at a time, several
     * @param configurations by rows
     */
    private record Products(List<MemorySegment> routines, MemorySegment configurations) {}

    private MemorySegment configurations(boolean areSplit) {
        MemorySegment configurations = arena.allocate((MAX_ROWS + 1L) * AmxGemmCode.CONFIGURATION_BYTES, 64);
        for (int rows = 1; rows <= MAX_ROWS; rows++) {
            byte[] bytes = AmxGemmCode.configuration(rows, areSplit);
            long at = (long) rows * AmxGemmCode.CONFIGURATION_BYTES;
            MemorySegment.copy(bytes, 0, configurations, JAVA_BYTE, at, bytes.length);
        }
        return configurations;
    }

    /** Writes the code; empty where the system refuses executable memory. */
    public static Optional<AmxKernels> open() {
        return open(SystemCalls::call);
    }

    /** Writes the code, and has routines with tiles run by another than the processor. */
    static Optional<AmxKernels> open(Runner runner) {
        return ExecutableMemory.of(codes()).map(memory -> new AmxKernels(memory, runner));
    }

    private static List<byte[]> codes() {
        var codes = new ArrayList<byte[]>();
        for (Panel panel : UNPACKED) {
            codes.add(AmxPanelCode.of(panel));
            for (int rows = 1; rows <= FEW_ROWS; rows++) {
                codes.add(AmxRowCode.of(panel, rows));
            }
        }
        for (boolean areSplit : new boolean[] {false, true}) {
            for (int tiles = 0; tiles < PANELS.length; tiles++) {
                codes.add(AmxGemmCode.of(tiles + 1, 1, areSplit));
                codes.add(AmxGemmCode.of(tiles + 1, (areSplit ? SPLIT_PANELS : PANELS)[tiles], areSplit));
            }
        }
        return codes;
    }

    /** A caller's own place for arguments. */
    public Call call() {
        return new Call(
                arena.allocate(AmxGemmCode.SIZE, 64),
                arena.allocate(AmxPanelCode.SIZE, 64),
                arena.allocate(AmxRowCode.SIZE, 64));
    }

    /** Arguments and calls; one thread's own. */
    public final class Call {
        private final MemorySegment product;
        private final MemorySegment unpack;
        private final MemorySegment few;
        private Panel panel = Panel.BFLOAT16;
        private Products products = plain;
        private int[] together = PANELS;
        private int columns;

        private Call(MemorySegment product, MemorySegment unpack, MemorySegment few) {
            this.product = product;
            this.unpack = unpack;
            this.few = few;
            few.set(JAVA_INT, AmxRowCode.CONTROL, AmxRowCode.SUBNORMAL_IS_ZERO);
            few.set(JAVA_FLOAT, AmxRowCode.ROUNDING, AmxRowCode.BEYOND_BFLOAT16);
        }

        /** Chooses the kind of weights. */
        public void weights(Panel newPanel, DataType type, int newColumns) {
            panel(newPanel);
            columns = newColumns;
            long constantsAt = Objects.requireNonNull(constants.get(type)).address();
            unpack.set(JAVA_LONG, AmxPanelCode.PANEL_BYTES, newPanel.bytes(newColumns));
            unpack.set(JAVA_LONG, AmxPanelCode.CONSTANTS, constantsAt);
            few.set(JAVA_LONG, AmxRowCode.PANEL_BYTES, newPanel.bytes(newColumns));
            few.set(JAVA_LONG, AmxRowCode.SCALES_AT, newPanel.scalesAt(newColumns));
            few.set(JAVA_LONG, AmxRowCode.MINIMA_AT, newPanel.minimaAt(newColumns));
            few.set(JAVA_LONG, AmxRowCode.UNITS, newPanel.units(newColumns));
            few.set(JAVA_LONG, AmxRowCode.CONSTANTS, constantsAt);
        }

        /** Chooses the kind of panels where these are multiplied as they lie. */
        public void panel(Panel newPanel) {
            panel = newPanel;
            boolean isSplit = newPanel.equals(Panel.SPLIT);
            products = isSplit ? split : plain;
            together = isSplit ? SPLIT_PANELS : PANELS;
        }

        /** Whether panels have to be {@link #unpack unpacked}; the others are read where they lie. */
        public boolean isUnpacked() {
            return panel.hasScales();
        }

        /**
         * Writes {@code count} panels of bfloat16 next to each other, of the numbers {@code from} until {@code to} of k; the
         * first is a multiple of {@link #UNIT}.
         */
        public void unpack(long weights, int count, int from, int to, long target) {
            long first = from / panel.unit();
            unpack.set(JAVA_LONG, AmxPanelCode.CODES_FROM, weights + first * panel.codeBytes());
            unpack.set(
                    JAVA_LONG,
                    AmxPanelCode.SCALES_FROM,
                    weights + panel.scalesAt(columns) + first * panel.scaleBytes());
            unpack.set(
                    JAVA_LONG,
                    AmxPanelCode.MINIMA_FROM,
                    weights + panel.minimaAt(columns) + first * panel.minimumBytes());
            unpack.set(JAVA_LONG, AmxPanelCode.TARGET, target);
            unpack.set(JAVA_LONG, AmxPanelCode.UNITS, (to - from) / panel.unit());
            unpack.set(JAVA_LONG, AmxPanelCode.PANELS, count);
            unpack.set(JAVA_LONG, AmxPanelCode.TARGET_PANEL_BYTES, (long) (to - from) * BYTES_PER_COLUMN);
            SystemCalls.call(Objects.requireNonNull(unpacking.get(panel)), unpack.address());
        }

        /** Chooses how far rows of activations, rows of outputs and panels are from each other. */
        public void distances(long inputBytes, long outputBytes, long panelBytes) {
            product.set(JAVA_LONG, AmxGemmCode.STRIDE, inputBytes);
            product.set(JAVA_LONG, AmxGemmCode.OUTPUT_STRIDE, outputBytes);
            product.set(JAVA_LONG, AmxGemmCode.PANEL_BYTES, panelBytes);
        }

        /** Chooses how many numbers of k are multiplied, a multiple of 32, and whether outputs are added to. */
        public void depth(int columnsOfCall, boolean continues) {
            product.set(JAVA_LONG, AmxGemmCode.STEPS, columnsOfCall / AmxGemmCode.DEPTH);
            product.set(JAVA_LONG, AmxGemmCode.CONTINUES, continues ? 1 : 0);
        }

        /**
         * Multiplies {@code rows} rows at {@code input} with {@code panels} panels of bfloat16, or of split numbers, at
         * {@code weights}.
         */
        public void multiply(long input, int rows, long weights, int panels, long output) {
            int tiles = (rows - 1) / AmxGemmCode.ROWS;
            int groups = panels / together[tiles];
            int rest = panels - groups * together[tiles];
            long configuration = products.configurations.address() + (long) rows * AmxGemmCode.CONFIGURATION_BYTES;
            product.set(JAVA_LONG, AmxGemmCode.CONFIGURATION, configuration);
            product.set(JAVA_LONG, AmxGemmCode.INPUT, input);
            product.set(JAVA_LONG, AmxGemmCode.WEIGHTS, weights);
            product.set(JAVA_LONG, AmxGemmCode.OUTPUT, output);
            if (groups > 0) {
                run(products.routines.get(2 * tiles + 1), groups);
            }
            if (rest > 0) { // the code before left the addresses where it ended
                run(products.routines.get(2 * tiles), rest);
            }
        }

        /**
         * Multiplies up to {@link #FEW_ROWS} rows of float32 that are exact in bfloat16, {@code inputBytes} apart, with panels
         * that would have to be unpacked and have finite scales, over all k. Where {@link AmxProof#agreesInRegisters} says so,
         * the bits are those of {@link #unpack} and {@link #multiply}.
         */
        public void multiplyFew(
                long input, long inputBytes, int rows, long weights, int panels, long output, long outputBytes) {
            few.set(JAVA_LONG, AmxRowCode.INPUT, input);
            few.set(JAVA_LONG, AmxRowCode.STRIDE, inputBytes);
            few.set(JAVA_LONG, AmxRowCode.WEIGHTS, weights);
            few.set(JAVA_LONG, AmxRowCode.PANELS, panels);
            few.set(JAVA_LONG, AmxRowCode.OUTPUT, output);
            few.set(JAVA_LONG, AmxRowCode.OUTPUT_STRIDE, outputBytes);
            SystemCalls.call(Objects.requireNonNull(inRegisters.get(panel))[rows - 1], few.address());
        }

        private void run(MemorySegment code, int groups) {
            product.set(JAVA_LONG, AmxGemmCode.GROUPS, groups);
            runner.run(code, product.address());
        }
    }

    @Override
    public void close() {
        memory.close();
        arena.close();
    }
}
