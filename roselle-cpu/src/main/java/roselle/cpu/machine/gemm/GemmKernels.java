package roselle.cpu.machine.gemm;

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
import roselle.cpu.machine.InstructionSet;
import roselle.cpu.machine.SystemCalls;
import roselle.cpu.machine.panel.Avx2TileCode;
import roselle.cpu.machine.panel.Constants;
import roselle.cpu.machine.panel.ConversionCode;
import roselle.cpu.machine.panel.Panel;
import roselle.tensor.DataType;

/** The code of products for all kinds of panels and numbers of rows, in executable memory; freed by {@link #close}. */
public final class GemmKernels implements AutoCloseable {
    /** Rows of one call at most. */
    public static final int MAX_ROWS = GemmFrame.MAX_ROWS;

    /** Numbers of a row that share a sum: columns are padded to a multiple. */
    public static final int BLOCK = 32;

    /** Panels side by side where vectors have 256 bits: by rows. */
    private static final int[] NARROW_PANELS = {0, 4, 3, 2, 1, 1, 1};

    private final Arena arena = Arena.ofShared();
    private final ExecutableMemory memory;
    private final Compute compute;
    private final InstructionSet set;
    private final Map<Panel, MemorySegment[]> single = new HashMap<>(); // by rows
    private final Map<Panel, MemorySegment[]> several = new HashMap<>();
    private final MemorySegment conversion;
    private final MemorySegment nibbleConversion; // for panels whose nibbles ask for another order
    private final Map<DataType, MemorySegment> constants = new EnumMap<>(DataType.class);

    private GemmKernels(ExecutableMemory memory, Compute compute, InstructionSet set, Extent extent) {
        this.set = set;
        this.memory = memory;
        this.compute = compute;
        conversion = memory.routines().getLast();
        nibbleConversion = compute == Compute.INT8
                ? memory.routines().get(memory.routines().size() - 2)
                : conversion;
        Compute read = compute == Compute.SPLIT ? Compute.F32 : compute;
        for (DataType type : DataType.values()) {
            if (Panel.of(type, read).isPresent()) {
                constants.put(
                        type, compute == Compute.INT8 ? Int8ConversionCode.tables(arena) : Constants.of(arena, type));
            }
        }
        name(memory.routines(), extent);
    }

    /** Writes the code; empty where the system refuses executable memory. */
    public static Optional<GemmKernels> open(Compute compute) {
        return open(compute, InstructionSet.AVX512);
    }

    /** Writes the code with some instructions; AVX2 has no bfloat16. */
    public static Optional<GemmKernels> open(Compute compute, InstructionSet set) {
        if (set == InstructionSet.AVX2 && (compute == Compute.BF16 || compute == Compute.SPLIT)) {
            throw new IllegalArgumentException("AVX2 does not multiply " + compute);
        }
        return ExecutableMemory.of(codes(set, compute))
                .map(memory -> new GemmKernels(memory, compute, set, Extent.all(compute)));
    }

    /**
     * Writes what multiplies one kind of panels with a single row, or with as many at a time as go, and nothing else: to be
     * measured within milliseconds. Empty where the system refuses executable memory.
     */
    public static Optional<GemmKernels> openSample(Compute compute, InstructionSet set, Panel panel) {
        var extent = new Extent(List.of(panel), true);
        return ExecutableMemory.of(write(set, compute, extent))
                .map(memory -> new GemmKernels(memory, compute, set, extent));
    }

    /** Which routines there are: kinds of panels, and all numbers of rows or only the least and the most. */
    private record Extent(List<Panel> panels, boolean isSample) {
        static Extent all(Compute compute) {
            return new Extent(compute == Compute.SPLIT ? List.of() : Panel.all(compute), false); // tiles multiply these
        }

        boolean has(int rows, InstructionSet set) {
            return !isSample || rows == 1 || rows == mostRows(set);
        }
    }

    /** The bytes of all routines follow from these alone: a process that opens several devices writes them once. */
    private static List<byte[]> codes(InstructionSet set, Compute compute) {
        if (set == InstructionSet.AVX2) {
            return compute == Compute.INT8 ? NarrowBytes.CODES : Narrow.CODES;
        }
        return switch (compute) {
            case F32 -> Floats.CODES;
            case BF16 -> Halves.CODES;
            case SPLIT -> Splits.CODES;
            case INT8 -> Bytes.CODES;
        };
    }

    private static final class Narrow {
        static final List<byte[]> CODES = write(InstructionSet.AVX2, Compute.F32, Extent.all(Compute.F32));
    }

    private static final class NarrowBytes {
        static final List<byte[]> CODES = write(InstructionSet.AVX2, Compute.INT8, Extent.all(Compute.INT8));
    }

    private static final class Floats {
        static final List<byte[]> CODES = write(InstructionSet.AVX512, Compute.F32, Extent.all(Compute.F32));
    }

    private static final class Halves {
        static final List<byte[]> CODES = write(InstructionSet.AVX512, Compute.BF16, Extent.all(Compute.BF16));
    }

    private static final class Splits {
        static final List<byte[]> CODES = write(InstructionSet.AVX512, Compute.SPLIT, Extent.all(Compute.SPLIT));
    }

    private static final class Bytes {
        static final List<byte[]> CODES = write(InstructionSet.AVX512, Compute.INT8, Extent.all(Compute.INT8));
    }

    private static List<byte[]> write(InstructionSet set, Compute compute, Extent extent) {
        var codes = new ArrayList<byte[]>();
        for (Panel panel : extent.panels) {
            for (int rows = 1; rows <= mostRows(set); rows++) {
                if (extent.has(rows, set)) {
                    codes.add(code(set, panel, compute, rows, 1));
                    codes.add(code(set, panel, compute, rows, together(set, panel, compute, rows)));
                }
            }
        }
        if (compute == Compute.INT8) {
            boolean isNarrow = set == InstructionSet.AVX2;
            codes.add(isNarrow ? Int8ConversionCode.narrow(true) : Int8ConversionCode.of(true));
            codes.add(isNarrow ? Int8ConversionCode.narrow(false) : Int8ConversionCode.of(false));
        } else {
            codes.add(set == InstructionSet.AVX2 ? Avx2TileCode.convertActivations() : ConversionCode.of(compute));
        }
        return List.copyOf(codes);
    }

    private static int mostRows(InstructionSet set) {
        return set == InstructionSet.AVX2 ? NARROW_PANELS.length - 1 : MAX_ROWS;
    }

    /**
     * Panels that rows go through side by side. Two keep the processor busy where the sums of one would wait for themselves:
     * products of bfloat16 take half again as long as those of float32. From ten rows on that pays where a number costs
     * little to unpack.
     */
    private static int together(InstructionSet set, Panel panel, Compute compute, int rows) {
        if (set == InstructionSet.AVX2) {
            return NARROW_PANELS[rows];
        }
        int most = compute == Compute.F32 ? 6 : compute == Compute.BF16 && panel.hasNibbles() ? MAX_ROWS : 9;
        return rows <= most ? 2 : 1;
    }

    private static byte[] code(InstructionSet set, Panel panel, Compute compute, int rows, int panels) {
        if (compute == Compute.INT8) {
            return set == InstructionSet.AVX2
                    ? Avx2Int8GemmCode.of(panel, rows, panels)
                    : Int8GemmCode.of(panel, rows, panels);
        }
        return set == InstructionSet.AVX2
                ? Avx2GemmCode.of(panel, rows, panels)
                : GemmCode.of(panel, compute, rows, panels);
    }

    private void name(List<MemorySegment> routines, Extent extent) {
        int next = 0;
        for (Panel panel : extent.panels) {
            var one = new MemorySegment[MAX_ROWS + 1];
            var more = new MemorySegment[MAX_ROWS + 1];
            for (int rows = 1; rows <= mostRows(set); rows++) {
                if (extent.has(rows, set)) {
                    one[rows] = routines.get(next++);
                    more[rows] = routines.get(next++);
                }
            }
            single.put(panel, one);
            several.put(panel, more);
        }
    }

    public Compute compute() {
        return compute;
    }

    /** A caller's own place for arguments. */
    public Call call() {
        return new Call(arena.allocate(Arguments.SIZE, 64), arena.allocate(ConversionCode.SIZE, 64));
    }

    /** Bytes of a row of activations, with the sums of its blocks; rows are skewed against each other in the caches. */
    public long rowBytes(int paddedColumns) {
        long bytes = switch (compute) {
            case INT8 -> Int8Gemm.rowBytes(paddedColumns);
            case SPLIT -> sumsAt(paddedColumns);
            case F32, BF16 -> sumsAt(paddedColumns) + paddedColumns / BLOCK * (long) Float.BYTES + ConversionCode.SPILL;
        };
        long lines = (bytes + 63) / 64;
        return (lines % 2 == 0 ? lines + 1 : lines) * 64;
    }

    private long sumsAt(int paddedColumns) {
        return (long) paddedColumns * compute.bytes();
    }

    /** Arguments of products and conversions, and the calls; one thread's own. */
    public final class Call {
        private final MemorySegment arguments;
        private MemorySegment[] one = new MemorySegment[0];
        private MemorySegment[] more = new MemorySegment[0];
        private Panel kind = Panel.FLOAT32;
        private final MemorySegment conversionArguments;
        private long panelBytes;
        private long inputBytes; // from a row of activations to the next
        private long outputBytes;

        private Call(MemorySegment arguments, MemorySegment conversionArguments) {
            this.arguments = arguments;
            this.conversionArguments = conversionArguments;
            MemorySegment tables = Objects.requireNonNull(constants.get(DataType.Q8_0));
            conversionArguments.set(JAVA_LONG, ConversionCode.TABLES, tables.address());
        }

        /** Converts a row of float32, padded to {@link #BLOCK}, to a row of activations. */
        public void convert(long source, int paddedColumns, long target) {
            convert(conversion, source, paddedColumns, target);
        }

        /** The same for products with panels of a kind: in bytes, the order is that of their codes. */
        public void convert(Panel panel, long source, int paddedColumns, long target) {
            convert(panel.hasNibbles() ? nibbleConversion : conversion, source, paddedColumns, target);
        }

        private void convert(MemorySegment code, long source, int paddedColumns, long target) {
            conversionArguments.set(JAVA_LONG, ConversionCode.SOURCE, source);
            conversionArguments.set(JAVA_LONG, ConversionCode.TARGET, target);
            conversionArguments.set(JAVA_LONG, ConversionCode.SUMS, target + sumsAt(paddedColumns));
            conversionArguments.set(JAVA_LONG, ConversionCode.BLOCKS, paddedColumns / BLOCK);
            SystemCalls.call(code, conversionArguments.address());
        }

        /** Chooses the kind of weights. */
        public void weights(Panel panel, DataType type, int columns) {
            kind = panel;
            one = Objects.requireNonNull(single.get(panel));
            more = Objects.requireNonNull(several.get(panel));
            panelBytes = panel.bytes(columns);
            int padded = panel.paddedColumns(columns);
            input(rowBytes(padded));
            set(Arguments.SUMS_AT, sumsAt(padded));
            set(Arguments.UNITS, panel.units(columns));
            set(Arguments.SCALES_AT, panel.scalesAt(columns));
            set(Arguments.MINIMA_AT, panel.minimaAt(columns));
            set(Arguments.PANEL_BYTES, panelBytes);
            set(Arguments.CONSTANTS, Objects.requireNonNull(constants.get(type)).address());
        }

        /** Chooses the distance of rows of activations, where it is not {@link #rowBytes}: weights without minima allow that. */
        public void input(long strideBytes) {
            inputBytes = strideBytes;
            set(Arguments.STRIDE, strideBytes);
        }

        /** Chooses the distance of rows of outputs. */
        public void output(long strideBytes) {
            outputBytes = strideBytes;
            set(Arguments.OUTPUT_STRIDE, strideBytes);
        }

        /** Multiplies {@code rows} rows at {@code input} with {@code panels} panels at {@code weights}. */
        public void multiply(long input, int rows, long weights, int panels, long output) {
            int most = mostRows(set);
            int passes = (rows + most - 1) / most;
            for (int pass = 0; pass < passes; pass++) {
                int from = rows * pass / passes;
                int to = rows * (pass + 1) / passes;
                pass(input + from * inputBytes, to - from, weights, panels, output + from * outputBytes);
            }
        }

        private void pass(long input, int rows, long weights, int panels, long output) {
            int together = together(set, kind, compute, rows);
            int groups = panels / together;
            int rest = panels - groups * together;
            set(Arguments.INPUT, input);
            if (groups > 0) {
                run(more[rows], weights, groups, output);
            }
            if (rest > 0) {
                long done = (long) groups * together;
                run(one[rows], weights + done * panelBytes, rest, output + done * Panel.OUTPUTS * Float.BYTES);
            }
        }

        private void run(MemorySegment code, long weights, int groups, long output) {
            set(Arguments.WEIGHTS, weights);
            set(Arguments.GROUPS, groups);
            set(Arguments.OUTPUT, output);
            SystemCalls.call(code, arguments.address());
        }

        private void set(int offset, long value) {
            arguments.set(JAVA_LONG, offset, value);
        }
    }

    @Override
    public void close() {
        memory.close();
        arena.close();
    }
}
