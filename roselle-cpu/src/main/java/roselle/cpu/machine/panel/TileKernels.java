package roselle.cpu.machine.panel;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import roselle.cpu.machine.Compute;
import roselle.cpu.machine.ExecutableMemory;
import roselle.cpu.machine.InstructionSet;
import roselle.cpu.machine.SystemCalls;
import roselle.tensor.DataType;

/** The code that brings keys, values and weights into panels, in executable memory; freed by {@link #close}. */
public final class TileKernels implements AutoCloseable {
    /** Types of keys and values that it reads. */
    private static final List<DataType> TYPES = List.of(DataType.F32, DataType.F16, DataType.BF16);

    /** Bytes of as much of a panel as has the parts of split numbers apart, and of how many numbers of k that is. */
    private static final long SPLIT_BYTES = 2048;

    private static final int SPLIT_NUMBERS = 32;

    /** Numbers of a row must be a multiple. */
    public static final int COLUMNS = 32;

    private final Arena arena = Arena.ofShared();
    private final ExecutableMemory memory;
    private final Compute compute;
    private final InstructionSet set;
    private final Map<DataType, MemorySegment> conversions = new EnumMap<>(DataType.class);
    private final Map<DataType, MemorySegment> stagings = new EnumMap<>(DataType.class);
    private final Map<DataType, MemorySegment> keys = new EnumMap<>(DataType.class);
    private final Map<DataType, MemorySegment> values = new EnumMap<>(DataType.class);
    private final MemorySegment halves;
    private final MemorySegment farTransposition;
    private final Map<DataType, MemorySegment> blocks = new EnumMap<>(DataType.class);
    private final MemorySegment tables;

    private TileKernels(ExecutableMemory memory, Compute compute, InstructionSet set) {
        this.memory = memory;
        this.set = set;
        this.compute = compute;
        List<MemorySegment> routines = memory.routines();
        int next = 0;
        for (DataType type : TYPES) {
            conversions.put(type, routines.get(next++));
            stagings.put(type, compute == Compute.SPLIT ? routines.get(next++) : routines.get(next - 1));
            keys.put(type, routines.get(next++));
            values.put(type, routines.get(next++));
        }
        boolean isWide = set == InstructionSet.AVX512;
        halves = isWide ? routines.get(next++) : MemorySegment.NULL;
        farTransposition = isWide ? routines.get(next++) : Objects.requireNonNull(keys.get(DataType.F32));
        for (DataType type : DataType.values()) {
            int routine = PanelCode.routine(type);
            if (isWide && routine >= 0) {
                blocks.put(type, routines.get(next + routine));
            }
        }
        tables = PanelCode.tables(arena);
    }

    /** Writes the code; empty where the system refuses executable memory. */
    public static Optional<TileKernels> open(Compute compute) {
        return open(compute, InstructionSet.AVX512);
    }

    /** Writes the code with some instructions; AVX2 has float32 alone. */
    public static Optional<TileKernels> open(Compute compute, InstructionSet set) {
        List<byte[]> codes = set == InstructionSet.AVX2 ? narrow() : wide(compute);
        return ExecutableMemory.of(codes).map(memory -> new TileKernels(memory, compute, set));
    }

    private static List<byte[]> narrow() {
        var codes = new ArrayList<byte[]>();
        for (DataType type : TYPES) {
            codes.add(Avx2TileCode.convert(type));
            codes.add(Avx2TileCode.keys(type));
            codes.add(Avx2TileCode.values(type));
        }
        return codes;
    }

    private static List<byte[]> wide(Compute compute) {
        var codes = new ArrayList<byte[]>();
        for (DataType type : TYPES) {
            codes.add(TileCode.convert(type, compute));
            if (compute == Compute.SPLIT) {
                codes.add(TileCode.convert(type, Compute.F32));
                codes.add(TileCode.splitKeys(type));
                codes.add(TileCode.splitValues(type));
            } else {
                codes.add(TileCode.keys(type, compute));
                codes.add(TileCode.values(type, compute));
            }
        }
        codes.add(TileCode.transposeHalves());
        codes.add(TileCode.transposeFar());
        codes.addAll(PanelCode.routines());
        return codes;
    }

    /** The kind of panels that it makes. */
    public Panel panel() {
        return switch (compute) {
            case BF16 -> Panel.BFLOAT16;
            case SPLIT -> Panel.SPLIT;
            case F32, INT8 -> Panel.FLOAT32;
        };
    }

    /** Whether it makes panels of a kind from rows of a type as they lie in a checkpoint. */
    boolean turns(DataType from, Panel target) {
        return switch (target.codes()) {
            case BFLOAT16 -> from == DataType.BF16 || (compute == Compute.BF16 && TYPES.contains(from));
            case SPLIT -> compute == Compute.SPLIT && TYPES.contains(from);
            case FLOAT32 -> from == DataType.F32;
            case FLOAT16 -> from == DataType.F16 && set == InstructionSet.AVX512;
            case BYTES, NIBBLES, PLAIN_NIBBLES, SIX_BITS -> blocks.containsKey(from);
        };
    }

    /** Where in a panel a row of it begins, of an even number, which is its k. */
    public long rowAt(int row) {
        long bytes = (long) row * Panel.OUTPUTS * compute.bytes();
        return compute == Compute.SPLIT ? bytes / SPLIT_BYTES * SPLIT_BYTES + bytes % SPLIT_BYTES / 2 : bytes;
    }

    /** The type of rows on their way into them. */
    public DataType type() {
        return compute == Compute.BF16 ? DataType.BF16 : DataType.F32;
    }

    public Compute compute() {
        return compute;
    }

    /** A caller's own place for arguments. */
    public Call call() {
        return new Call(arena.allocate(TileCode.BYTES, 64));
    }

    /** Arguments and calls; one thread's own. */
    public final class Call {
        private final MemorySegment arguments;
        private long fetched; // 0: what the call reads itself

        private Call(MemorySegment arguments) {
            this.arguments = arguments;
            arguments.set(JAVA_LONG, TileCode.TABLES, tables.address());
        }

        /** Makes a panel without scales of sixteen rows of weights of the panel's own type, so many lines of 64 bytes each. */
        void weights(Panel target, long source, long rowBytes, long to, int lines) {
            run(target.equals(Panel.FLOAT16) ? halves : farTransposition, source, rowBytes, to, lines);
        }

        /** Makes a panel of sixteen rows of blocks; it may read {@link PanelCode#BEFORE} bytes before them, and a line behind. */
        void blocks(DataType type, Panel target, long source, long rowBytes, long to, int columns) {
            arguments.set(JAVA_LONG, TileCode.SCALES, to + target.scalesAt(columns));
            arguments.set(JAVA_LONG, TileCode.MINIMA, to + target.minimaAt(columns));
            long from = source - PanelCode.before(type);
            run(Objects.requireNonNull(blocks.get(type)), from, rowBytes, to, target.units(columns));
        }

        /** Converts {@code count} numbers of a type, a multiple of {@link #COLUMNS}, to the precision of panels. */
        public void convert(DataType type, long source, long target, int count) {
            run(Objects.requireNonNull(conversions.get(type)), source, 0, target, count / 32);
        }

        /** Converts {@code count} numbers of a type, a multiple of {@link #COLUMNS}, to {@link #type}, of which panels are made. */
        public void stage(DataType type, long source, long target, int count) {
            run(Objects.requireNonNull(stagings.get(type)), source, 0, target, count / 32);
        }

        /** Has the next call bring as many bytes as it reads, from here on, to the caches, since they are read soon. */
        public void fetch(long source) {
            fetched = source;
        }

        /** Makes a panel of 16 rows of a type that follow each other, whose numbers are its k: of keys. */
        public void keys(DataType type, long source, int columns, long target) {
            int lines = compute == Compute.SPLIT ? columns / SPLIT_NUMBERS : columns * compute.bytes() / 64;
            run(Objects.requireNonNull(keys.get(type)), source, (long) columns * type.blockBytes(), target, lines);
        }

        /**
         * Makes a part of panels of rows of a type that follow each other and are their k, an even number of them: of values.
         *
         * @param target the first panel, from the first row's k on; of split numbers none of the rows but the first of 32 goes on
         *     where the first row's 32 end
         * @param panelBytes from a panel to the next
         */
        public void values(DataType type, long source, int rows, int columns, long target, long panelBytes) {
            arguments.set(JAVA_LONG, TileCode.PANELS, columns / Panel.OUTPUTS);
            arguments.set(JAVA_LONG, TileCode.PANEL_BYTES, panelBytes);
            long rowBytes = (long) columns * type.blockBytes();
            int most = compute == Compute.SPLIT ? SPLIT_NUMBERS : rows;
            for (int row = 0; row < rows; row += most) {
                int count = Math.min(most, rows - row) / 2;
                run(
                        Objects.requireNonNull(values.get(type)),
                        source + row * rowBytes,
                        rowBytes,
                        target + rowAt(row),
                        count);
            }
        }

        private void run(MemorySegment code, long source, long stride, long target, int count) {
            arguments.set(JAVA_LONG, TileCode.FETCHED, fetched == 0 ? source : fetched);
            fetched = 0;
            arguments.set(JAVA_LONG, TileCode.SOURCE, source);
            arguments.set(JAVA_LONG, TileCode.STRIDE, stride);
            arguments.set(JAVA_LONG, TileCode.TARGET, target);
            arguments.set(JAVA_LONG, TileCode.COUNT, count);
            SystemCalls.call(code, arguments.address());
        }
    }

    @Override
    public void close() {
        memory.close();
        arena.close();
    }
}
