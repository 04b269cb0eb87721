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

    /** Numbers of a row must be a multiple. */
    public static final int COLUMNS = 32;

    private final Arena arena = Arena.ofShared();
    private final ExecutableMemory memory;
    private final Compute compute;
    private final InstructionSet set;
    private final Map<DataType, MemorySegment> conversions = new EnumMap<>(DataType.class);
    private final MemorySegment transposition;
    private final MemorySegment interleaving;
    private final MemorySegment halves;
    private final MemorySegment farTransposition;
    private final Map<DataType, MemorySegment> blocks = new EnumMap<>(DataType.class);
    private final MemorySegment tables;

    private TileKernels(ExecutableMemory memory, Compute compute, InstructionSet set) {
        this.memory = memory;
        this.set = set;
        this.compute = compute;
        for (int i = 0; i < TYPES.size(); i++) {
            conversions.put(TYPES.get(i), memory.routines().get(i));
        }
        transposition = memory.routines().get(TYPES.size());
        interleaving = memory.routines().get(TYPES.size() + 1);
        boolean isWide = set == InstructionSet.AVX512;
        halves = isWide ? memory.routines().get(TYPES.size() + 2) : MemorySegment.NULL;
        farTransposition = isWide ? memory.routines().get(TYPES.size() + 3) : transposition;
        for (DataType type : DataType.values()) {
            int routine = PanelCode.routine(type);
            if (isWide && routine >= 0) {
                blocks.put(type, memory.routines().get(TYPES.size() + 4 + routine));
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
        }
        codes.add(Avx2TileCode.transpose());
        codes.add(Avx2TileCode.interleave());
        return codes;
    }

    private static List<byte[]> wide(Compute compute) {
        var codes = new ArrayList<byte[]>();
        for (DataType type : TYPES) {
            codes.add(TileCode.convert(type, compute));
        }
        codes.add(TileCode.transpose());
        codes.add(TileCode.interleave(compute));
        codes.add(TileCode.transposeHalves());
        codes.add(TileCode.transposeFar());
        codes.addAll(PanelCode.routines());
        return codes;
    }

    /** The kind of panels that it makes. */
    public Panel panel() {
        return compute == Compute.BF16 ? Panel.BFLOAT16 : Panel.FLOAT32;
    }

    /** Whether it makes panels of a kind from rows of a type as they lie in a checkpoint. */
    boolean turns(DataType from, Panel target) {
        return switch (target.codes()) {
            case BFLOAT16 -> from == DataType.BF16 || (compute == Compute.BF16 && TYPES.contains(from));
            case FLOAT32 -> from == DataType.F32;
            case FLOAT16 -> from == DataType.F16 && set == InstructionSet.AVX512;
            case BYTES, NIBBLES, PLAIN_NIBBLES, SIX_BITS -> blocks.containsKey(from);
        };
    }

    /** The type of what is in them. */
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

        /** Makes a panel of 16 converted rows whose numbers are its k: of keys. */
        public void transpose(long source, int columns, long target) {
            long rowBytes = (long) columns * compute.bytes();
            run(transposition, source, rowBytes, target, (int) (rowBytes / 64));
        }

        /** Makes panels of converted rows that are their k, an even number of them: of values. */
        public void interleave(long source, int rows, int columns, long target) {
            int width = Panel.OUTPUTS * compute.bytes();
            for (int p = 0; p < columns / Panel.OUTPUTS; p++) {
                long to = target + p * panel().bytes(rows);
                run(interleaving, source + (long) p * width, (long) columns * compute.bytes(), to, rows / 2);
            }
        }

        private void run(MemorySegment code, long source, long stride, long target, int count) {
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
