package roselle.cpu.machine.row;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import roselle.backend.operation.Activation;
import roselle.backend.operation.Gate;
import roselle.backend.operation.Norm;
import roselle.cpu.machine.ExecutableMemory;
import roselle.cpu.machine.InstructionSet;
import roselle.cpu.machine.SystemCalls;
import roselle.cpu.vector.Lanes;
import roselle.cpu.vector.VectorFunctions;

/**
 * The code of what is done to rows number by number, in executable memory; freed by {@link #close}.
 *
 * <p>Its bits are those of the Vector API's loops, which sum in as many lanes as {@link Lanes} has; where these are others than
 * the code's, it takes no sums.
 */
public final class RowKernels implements AutoCloseable {
    private static final int LINE = 64;
    private static final int LINE_NUMBERS = LINE / Float.BYTES;

    private final Arena arena = Arena.ofShared();
    private final ExecutableMemory memory;
    private final MemorySegment gate;
    private final MemorySegment squares;
    private final MemorySegment scale;
    private final MemorySegment add;
    private final MemorySegment softmax;
    private final MemorySegment shrink;
    private final MemorySegment divide;
    private final MemorySegment gelu;
    private final MemorySegment table = arena.allocate(RowCode.TABLE_SIZE, LINE);
    private final boolean sums;

    private RowKernels(ExecutableMemory memory, InstructionSet set) {
        this.memory = memory;
        gate = memory.routines().get(0);
        squares = memory.routines().get(1);
        scale = memory.routines().get(2);
        add = memory.routines().get(3);
        softmax = memory.routines().get(4);
        shrink = memory.routines().get(5);
        divide = memory.routines().get(6);
        gelu = memory.routines().get(7);
        sums = Lanes.COUNT == (set == InstructionSet.AVX512 ? LINE_NUMBERS : LINE_NUMBERS / 2);
        RowCode.constants(table);
    }

    /** Writes the code with some instructions; empty where the system refuses executable memory. */
    public static Optional<RowKernels> open(InstructionSet set) {
        return ExecutableMemory.of(RowCode.routines(set)).map(memory -> new RowKernels(memory, set));
    }

    /** A caller's own place for arguments. */
    public Call call() {
        return new Call(arena.allocate(RowCode.SIZE, LINE));
    }

    /** A caller's own softmax of so many rows of so many numbers; empty where it takes no sums. */
    public Optional<Softmax> softmax(int rows, int columns) {
        long bytes = (long) rows * RowCode.ROW_BYTES;
        return sums ? Optional.of(new Softmax(call(), arena.allocate(bytes, LINE), columns)) : Optional.empty();
    }

    private static boolean isOfLines(int count) {
        return count > 0 && count % LINE_NUMBERS == 0;
    }

    /** Arguments and calls; one thread's own. Addresses are those of float32 numbers. */
    public final class Call {
        private final MemorySegment arguments;

        private Call(MemorySegment arguments) {
            this.arguments = arguments;
            arguments.set(JAVA_LONG, RowCode.TABLE, table.address());
        }

        /** Whether it gates rows of so many columns: by a sigmoid, without bounds, in whole lines of 64 bytes. */
        public boolean takes(Gate kind, int columns) {
            boolean isSigmoid = switch (kind.activation()) {
                case SILU, GELU_TANH, GELU_QUICK -> true;
                case NONE, GELU, RELU, RELU_SQUARED, LOGISTIC -> false;
            };
            return isSigmoid
                    && kind.limit() == Float.POSITIVE_INFINITY
                    && kind.upLimit() == Float.POSITIVE_INFINITY
                    && isOfLines(columns);
        }

        /** Whether it normalises so many numbers: by their squares alone, without a bias, in whole lines of 64 bytes. */
        public boolean takes(Norm norm, int count) {
            return sums && norm.kind() == Norm.Kind.RMS && norm.bias() == null && isOfLines(count);
        }

        /** Whether it adds so many numbers: whole lines of 64 bytes. */
        public boolean adds(int count) {
            return isOfLines(count);
        }

        /** Chooses how the rows that follow are gated. */
        public void kind(Gate kind) {
            float factor = switch (kind.activation()) {
                case GELU_TANH -> VectorFunctions.TWICE_ROOT_2_OVER_PI;
                case GELU_QUICK -> VectorFunctions.QUICK;
                default -> 1f;
            };
            float cubic = kind.activation() == Activation.GELU_TANH ? VectorFunctions.CUBIC : 0f;
            arguments.set(JAVA_FLOAT, RowCode.FACTOR, -factor);
            arguments.set(JAVA_FLOAT, RowCode.CUBIC, cubic);
            arguments.set(JAVA_FLOAT, RowCode.OFFSET, kind.upOffset());
        }

        /** Gates a row of so many columns. */
        public void gate(long gated, long up, long output, int columns) {
            run(gate, gated, up, output, columns);
        }

        /** The sum of the squares of so many numbers. */
        public float squares(long numbers, int count) {
            run(squares, numbers, 0, 0, count);
            return arguments.get(JAVA_FLOAT, RowCode.SUM);
        }

        /** Multiplies so many numbers by a factor and by their weights, which are an offset more. */
        public void scale(long numbers, float factor, long weights, float offset, long output, int count) {
            arguments.set(JAVA_FLOAT, RowCode.FACTOR, factor);
            arguments.set(JAVA_FLOAT, RowCode.OFFSET, offset);
            run(scale, numbers, weights, output, count);
        }

        /** Adds so many numbers to as many others. */
        public void add(long numbers, long to, int count) {
            run(add, to, numbers, to, count);
        }

        /** Sums of so many numbers and as many others. */
        public void sum(long numbers, long others, long output, int count) {
            run(add, numbers, others, output, count);
        }

        /** {@link Activation#GELU} of such sums. */
        public void gelu(long numbers, long others, long output, int count) {
            run(gelu, numbers, others, output, count);
        }

        private void run(MemorySegment code, long first, long second, long output, int count) {
            run(code, first, second, output, 0, count / LINE_NUMBERS);
        }

        private void run(MemorySegment code, long first, long second, long output, long stride, int count) {
            arguments.set(JAVA_LONG, RowCode.FIRST, first);
            arguments.set(JAVA_LONG, RowCode.SECOND, second);
            arguments.set(JAVA_LONG, RowCode.OUTPUT, output);
            arguments.set(JAVA_LONG, RowCode.STRIDE, stride);
            arguments.set(JAVA_LONG, RowCode.COUNT, count);
            SystemCalls.call(code, arguments.address());
        }
    }

    /** The online softmax of some rows of scores, {@code [rows][columns]}; one thread's own. */
    public final class Softmax {
        private final Call call;
        private final MemorySegment each; // of the rows
        private final long rowBytes;

        private Softmax(Call call, MemorySegment each, int columns) {
            this.call = call;
            this.each = each;
            rowBytes = (long) columns * Float.BYTES;
        }

        /** Chooses how many vectors of {@link Lanes} of a row are weighed next; none leaves it alone. */
        public void vectors(int row, int vectors) {
            each.set(JAVA_LONG, (long) row * RowCode.ROW_BYTES, vectors);
        }

        /** Chooses what a row has up to now. */
        public void row(int row, float largest, float shrink, float denominator) {
            set(row, RowCode.LARGEST, largest);
            set(row, RowCode.SHRINK, shrink);
            set(row, RowCode.DENOMINATOR, denominator);
        }

        /** The largest score up to now, times the factor. */
        public float largest(int row) {
            return each.get(JAVA_FLOAT, (long) row * RowCode.ROW_BYTES + RowCode.LARGEST);
        }

        /** The sum of the weights up to now. */
        public float denominator(int row) {
            return each.get(JAVA_FLOAT, (long) row * RowCode.ROW_BYTES + RowCode.DENOMINATOR);
        }

        /** What sums before the last call are multiplied by. */
        public float shrink(int row) {
            return each.get(JAVA_FLOAT, (long) row * RowCode.ROW_BYTES + RowCode.SHRINK);
        }

        private void set(int row, int field, float number) {
            each.set(JAVA_FLOAT, (long) row * RowCode.ROW_BYTES + field, number);
        }

        /**
         * Replaces the scores of the rows {@code first} until {@code end}, which is not first, by {@code exp(score * factor -
         * largest)}, the largest that of all up to now.
         */
        public void run(long scores, int first, int end, float factor) {
            call.arguments.set(JAVA_FLOAT, RowCode.FACTOR, factor);
            call.run(softmax, scores + first * rowBytes, at(first), 0, rowBytes, end - first);
        }

        /** {@code sums = sums * shrink + more} of the same rows, each of so many numbers, whole vectors of {@link Lanes}. */
        public void shrink(long more, long sums, int first, int end, int columns) {
            long from = (long) first * columns * Float.BYTES;
            call.run(shrink, more + from, at(first), sums + from, columns / Lanes.COUNT, end - first);
        }

        /** {@code output = sums / denominator} of the same rows; sums and output are the first of these rows' own. */
        public void divide(long sums, long output, int first, int end, int columns) {
            call.run(divide, sums, at(first), output, columns / Lanes.COUNT, end - first);
        }

        private long at(int row) {
            return each.address() + (long) row * RowCode.ROW_BYTES;
        }
    }

    @Override
    public void close() {
        memory.close();
        arena.close();
    }
}
