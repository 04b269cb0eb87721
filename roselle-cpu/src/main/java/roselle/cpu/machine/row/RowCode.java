package roselle.cpu.machine.row;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static roselle.cpu.machine.assembler.Operand.at;
import static roselle.cpu.vector.VectorFunctions.EXPONENTIAL;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.Consumer;
import roselle.cpu.machine.InstructionSet;
import roselle.cpu.machine.assembler.Assembler;
import roselle.cpu.machine.assembler.Assembler.Label;
import roselle.cpu.machine.assembler.Opcode;
import roselle.cpu.machine.assembler.Operand.General;
import roselle.cpu.machine.assembler.Operand.Memory;
import roselle.cpu.machine.assembler.Operand.Vector;
import roselle.cpu.vector.VectorFunctions;

/**
 * Writes what is done to a row number by number, in vectors.
 *
 * <p>Loops of the Vector API do the same operations in the same order, and are the twins. They are as fast once they are
 * compiled, but a new process reads its first prompt before.
 */
final class RowCode {
    private static final int LINE = 64;
    private static final int LANES = LINE / Float.BYTES;

    // of the arguments: addresses of rows
    static final int FIRST = 0;
    static final int SECOND = 8;
    static final int OUTPUT = 16;

    /** How many lines of 64 bytes a row has, or how many rows there are. */
    static final int COUNT = 24;

    /** Bytes from a row to the next. */
    static final int STRIDE = 32;

    /** The address of the table of constants. */
    static final int TABLE = 40;

    // numbers, float32
    static final int FACTOR = 48;
    static final int CUBIC = 52;
    static final int OFFSET = 56;

    /** Where a sum goes, in all lanes. */
    static final int SUM = 64;

    /** Bytes of arguments. */
    static final int SIZE = 128;

    /** Bytes of what {@link #softmax} has for each row: a long of how many vectors of numbers, then three numbers. */
    static final int ROW_BYTES = 32;

    /** The largest number up to now. */
    static final int LARGEST = 8;

    /** What sums before are multiplied by. */
    static final int SHRINK = 12;

    /** The sum of all weights up to now. */
    static final int DENOMINATOR = 16;

    // of the table, a line for each number, in all lanes
    private static final int LOWEST = 0;
    private static final int HIGHEST = 1;
    private static final int LOG2_E = 2;
    private static final int ROUND = 3;
    private static final int LESS_LN_2_HIGH = 4;
    private static final int LESS_LN_2_LOW = 5;
    private static final int ONE = 6;
    private static final int EXPONENT_OF_ONE = 7; // an int
    private static final int LESS_STEEPEST = 8;
    private static final int STEEPEST = 9;
    private static final int COEFFICIENTS = 10;
    private static final int ROTATIONS = COEFFICIENTS + EXPONENTIAL.size(); // ints: by 8, 4, 2 and 1 lanes
    private static final int ROOT_HALF = ROTATIONS + 4;
    private static final int LESS_FOUR = ROOT_HALF + 1;
    private static final int FOUR = ROOT_HALF + 2;
    private static final int HALF = ROOT_HALF + 3;
    private static final int ERF_P = ROOT_HALF + 4;
    private static final int ERF_Q = ERF_P + VectorFunctions.ERF_P.size();

    /** Bytes of the table. */
    static final int TABLE_SIZE = (ERF_Q + VectorFunctions.ERF_Q.size()) * LINE;

    private static final int EXPONENT_AT = 23;
    private static final int BIAS = 127;

    private static final General ARGUMENTS = General.RDI;
    private static final General FROM = General.RSI;
    private static final General OTHER = General.RDX;
    private static final General TO = General.RCX;
    private static final General LEFT = General.R8;
    private static final General CONSTANTS = General.RAX;

    private final Assembler code = new Assembler();
    private final int bytes; // of a vector
    private final Vector number;
    private final Vector x;
    private final Vector rounded;
    private final Vector whole;
    private final Vector sum;
    private final Vector square;

    private RowCode(InstructionSet set) {
        bytes = set == InstructionSet.AVX512 ? LINE : LINE / 2;
        number = vector(0);
        x = vector(1);
        rounded = vector(2);
        whole = vector(3);
        sum = vector(4);
        square = vector(5);
    }

    private Vector vector(int register) {
        return new Vector(register, bytes * Byte.SIZE);
    }

    /** The routines, in the order of {@link RowKernels}. */
    static List<byte[]> routines(InstructionSet set) {
        return List.of(
                of(set, RowCode::gate),
                of(set, RowCode::squares),
                of(set, RowCode::scale),
                of(set, RowCode::add),
                of(set, RowCode::softmax),
                of(set, RowCode::shrink),
                of(set, RowCode::divide),
                of(set, RowCode::gelu));
    }

    private static byte[] of(InstructionSet set, Consumer<RowCode> routine) {
        var writer = new RowCode(set);
        routine.accept(writer);
        writer.code.ret();
        return writer.code.bytes();
    }

    /** Writes the table. */
    static void constants(MemorySegment table) {
        set(table, LOWEST, VectorFunctions.LOWEST);
        set(table, HIGHEST, VectorFunctions.HIGHEST);
        set(table, LOG2_E, VectorFunctions.LOG2_E);
        set(table, ROUND, VectorFunctions.ROUND);
        set(table, LESS_LN_2_HIGH, -VectorFunctions.LN_2_HIGH);
        set(table, LESS_LN_2_LOW, -VectorFunctions.LN_2_LOW);
        set(table, ONE, 1f);
        set(table, EXPONENT_OF_ONE, Float.intBitsToFloat(BIAS));
        set(table, LESS_STEEPEST, -VectorFunctions.STEEPEST);
        set(table, STEEPEST, VectorFunctions.STEEPEST);
        set(table, ROOT_HALF, VectorFunctions.ROOT_HALF);
        set(table, LESS_FOUR, -4f);
        set(table, FOUR, 4f);
        set(table, HALF, 0.5f);
        set(table, COEFFICIENTS, EXPONENTIAL);
        set(table, ERF_P, VectorFunctions.ERF_P);
        set(table, ERF_Q, VectorFunctions.ERF_Q);
        for (int i = 0; i < 4 * LANES; i++) {
            int by = (LANES / 2) >> (i / LANES);
            table.setAtIndex(JAVA_INT, ROTATIONS * LANES + i, (i % LANES + by) % LANES);
        }
    }

    private static void set(MemorySegment table, int index, List<Float> values) {
        for (int i = 0; i < values.size(); i++) {
            set(table, index + i, values.get(i));
        }
    }

    private static void set(MemorySegment table, int index, float value) {
        for (int lane = 0; lane < LANES; lane++) {
            table.setAtIndex(JAVA_FLOAT, index * LANES + lane, value);
        }
    }

    private static Memory constant(int index) {
        return at(CONSTANTS, index * LINE);
    }

    /** A number of the arguments in all lanes. */
    private Vector broadcast(int register, int argument) {
        Vector vector = vector(register);
        code.emit(Opcode.VBROADCASTSS, vector, at(ARGUMENTS, argument));
        return vector;
    }

    private Label begin() {
        code.load(FROM, at(ARGUMENTS, FIRST));
        code.load(OTHER, at(ARGUMENTS, SECOND));
        code.load(TO, at(ARGUMENTS, OUTPUT));
        code.load(LEFT, at(ARGUMENTS, COUNT));
        code.load(CONSTANTS, at(ARGUMENTS, TABLE));
        return code.here();
    }

    private void next(Label loop) {
        code.add(FROM, LINE);
        code.add(OTHER, LINE);
        code.add(TO, LINE);
        code.add(LEFT, -1);
        code.jumpIfNotZero(loop);
    }

    /** {@code output = first / (1 + exp(factor * (first + cubic * first^3))) * (second + offset)}. */
    private void gate() {
        Vector factor = broadcast(6, FACTOR);
        Vector cubic = broadcast(7, CUBIC);
        Vector offset = broadcast(8, OFFSET);
        Label loop = begin();
        for (int from = 0; from < LINE; from += bytes) {
            code.emit(Opcode.VMOVUPS, number, at(FROM, from));
            code.emit(Opcode.VMOVUPS, sum, constant(LESS_STEEPEST));
            code.emit(Opcode.VMAXPS, x, sum, number); // what is no number passes as the second
            code.emit(Opcode.VMOVUPS, sum, constant(STEEPEST));
            code.emit(Opcode.VMINPS, x, sum, x);
            code.emit(Opcode.VMULPS, sum, x, x);
            code.emit(Opcode.VMULPS, sum, sum, cubic);
            code.emit(Opcode.VMULPS, sum, sum, x);
            code.emit(Opcode.VADDPS, x, x, sum);
            code.emit(Opcode.VMULPS, x, x, factor);
            exponential();
            code.emit(Opcode.VADDPS, sum, sum, constant(ONE));
            code.emit(Opcode.VDIVPS, number, number, sum);
            code.emit(Opcode.VADDPS, sum, offset, at(OTHER, from));
            code.emit(Opcode.VMULPS, number, number, sum);
            code.emit(Opcode.VMOVUPS_STORE, at(TO, from), number);
        }
        next(loop);
    }

    /** The sum of the squares of a row: of each lane's by halves. */
    private void squares() {
        code.emit(Opcode.VPXORD, sum, sum, sum);
        Label loop = begin();
        for (int from = 0; from < LINE; from += bytes) {
            code.emit(Opcode.VMOVUPS, x, at(FROM, from));
            code.emit(Opcode.VFMADD231PS, sum, x, x);
        }
        next(loop);
        sumOfLanes(sum);
        code.emit(Opcode.VMOVUPS_STORE, at(ARGUMENTS, SUM), sum);
    }

    private void sumOfLanes(Vector lanes) {
        for (int rotation = bytes == LINE ? 0 : 1; rotation < 4; rotation++) {
            code.emit(Opcode.VMOVUPS, x, constant(ROTATIONS + rotation));
            code.emit(Opcode.VPERMPS, x, x, lanes);
            code.emit(Opcode.VADDPS, lanes, lanes, x);
        }
    }

    /** {@code output = first * factor * (second + offset)}, where zero is never negative. */
    private void scale() {
        code.emit(Opcode.VPXORD, sum, sum, sum);
        Vector factor = broadcast(6, FACTOR);
        Vector offset = broadcast(7, OFFSET);
        Label loop = begin();
        for (int from = 0; from < LINE; from += bytes) {
            code.emit(Opcode.VMOVUPS, x, at(FROM, from));
            code.emit(Opcode.VMULPS, x, x, factor);
            code.emit(Opcode.VADDPS, number, offset, at(OTHER, from));
            code.emit(Opcode.VMULPS, x, x, number);
            code.emit(Opcode.VADDPS, x, x, sum);
            code.emit(Opcode.VMOVUPS_STORE, at(TO, from), x);
        }
        next(loop);
    }

    /** {@code output = first + second}; either may be the output. */
    private void add() {
        Label loop = begin();
        for (int from = 0; from < LINE; from += bytes) {
            code.emit(Opcode.VMOVUPS, x, at(FROM, from));
            code.emit(Opcode.VADDPS, x, x, at(OTHER, from));
            code.emit(Opcode.VMOVUPS_STORE, at(TO, from), x);
        }
        next(loop);
    }

    /** {@code output = gelu(first + second)}, by the error function. */
    private void gelu() {
        Label loop = begin();
        for (int from = 0; from < LINE; from += bytes) {
            code.emit(Opcode.VMOVUPS, number, at(FROM, from));
            code.emit(Opcode.VADDPS, number, number, at(OTHER, from));
            code.emit(Opcode.VMULPS, x, number, constant(ROOT_HALF));
            code.emit(Opcode.VMOVUPS, sum, constant(LESS_FOUR));
            code.emit(Opcode.VMAXPS, x, sum, x); // what is no number passes as the second
            code.emit(Opcode.VMOVUPS, sum, constant(FOUR));
            code.emit(Opcode.VMINPS, x, sum, x);
            code.emit(Opcode.VMULPS, square, x, x);
            polynomial(rounded, ERF_P, VectorFunctions.ERF_P.size());
            polynomial(whole, ERF_Q, VectorFunctions.ERF_Q.size());
            code.emit(Opcode.VMULPS, x, x, rounded);
            code.emit(Opcode.VDIVPS, x, x, whole);
            code.emit(Opcode.VADDPS, x, x, constant(ONE));
            code.emit(Opcode.VMULPS, number, number, constant(HALF));
            code.emit(Opcode.VMULPS, x, number, x);
            code.emit(Opcode.VMOVUPS_STORE, at(TO, from), x);
        }
        next(loop);
    }

    /** A polynomial of {@link #square}, its coefficients the highest power's first. */
    private void polynomial(Vector target, int coefficients, int count) {
        code.emit(Opcode.VMOVUPS, target, constant(coefficients));
        for (int i = 1; i < count; i++) {
            code.emit(Opcode.VFMADD213PS, target, square, constant(coefficients + i));
        }
    }

    /**
     * Takes the numbers of rows times a factor into an online softmax: they become {@code exp(number * factor - largest)}, where
     * the largest is that of the row up to now. Rows without vectors are left alone.
     */
    private void softmax() {
        General place = General.R9;
        General vectors = General.R10;
        General stride = General.R11;
        Vector weights = vector(6); // their sum
        Vector largest = vector(7);
        Vector factor = broadcast(8, FACTOR);
        Vector shrink = vector(9);
        code.load(stride, at(ARGUMENTS, STRIDE));
        Label rows = begin();
        Label done = code.label();
        code.load(vectors, at(OTHER, 0));
        code.compare(vectors, 0);
        code.jumpIfZero(done);
        code.emit(Opcode.VBROADCASTSS, largest, at(OTHER, LARGEST));
        code.emit(Opcode.VMOVUPS, shrink, largest);
        code.move(place, FROM);
        Label scaling = code.here();
        code.emit(Opcode.VMULPS, x, factor, at(place, 0));
        code.emit(Opcode.VMOVUPS_STORE, at(place, 0), x);
        code.emit(Opcode.VMAXPS, largest, largest, x);
        code.add(place, bytes);
        code.add(vectors, -1);
        code.jumpIfNotZero(scaling);
        for (int rotation = bytes == LINE ? 0 : 1; rotation < 4; rotation++) {
            code.emit(Opcode.VMOVUPS, x, constant(ROTATIONS + rotation));
            code.emit(Opcode.VPERMPS, x, x, largest);
            code.emit(Opcode.VMAXPS, largest, largest, x);
        }
        keep(LARGEST, largest, vectors);
        code.emit(Opcode.VSUBPS, x, shrink, largest);
        exponential();
        code.emit(Opcode.VMOVUPS, shrink, sum);
        keep(SHRINK, shrink, vectors);
        code.emit(Opcode.VPXORD, weights, weights, weights);
        code.load(vectors, at(OTHER, 0));
        code.move(place, FROM);
        Label loop = code.here();
        code.emit(Opcode.VMOVUPS, x, at(place, 0));
        code.emit(Opcode.VSUBPS, x, x, largest);
        exponential();
        code.emit(Opcode.VMOVUPS_STORE, at(place, 0), sum);
        code.emit(Opcode.VADDPS, weights, weights, sum);
        code.add(place, bytes);
        code.add(vectors, -1);
        code.jumpIfNotZero(loop);
        sumOfLanes(weights);
        code.emit(Opcode.VBROADCASTSS, x, at(OTHER, DENOMINATOR));
        code.emit(Opcode.VMULPS, x, x, shrink);
        code.emit(Opcode.VADDPS, weights, x, weights);
        keep(DENOMINATOR, weights, vectors);
        code.bind(done);
        code.add(FROM, stride);
        code.add(OTHER, ROW_BYTES);
        code.add(LEFT, -1);
        code.jumpIfNotZero(rows);
    }

    /** Keeps a number that is in all lanes among what a row has. */
    private void keep(int field, Vector lanes, General between) {
        code.emit(Opcode.VMOVUPS_STORE, at(ARGUMENTS, SUM), lanes);
        code.load(between, at(ARGUMENTS, SUM));
        code.storeInt(at(OTHER, field), between);
    }

    /** {@code output = output * shrink + first}, row by row of so many vectors as the stride says. */
    private void shrink() {
        eachRow(SHRINK, factor -> {
            code.emit(Opcode.VMOVUPS, x, at(TO, 0));
            code.emit(Opcode.VFMADD213PS, x, factor, at(FROM, 0));
        });
    }

    /** {@code output = first / denominator}, the same. */
    private void divide() {
        eachRow(DENOMINATOR, denominator -> {
            code.emit(Opcode.VMOVUPS, x, at(FROM, 0));
            code.emit(Opcode.VDIVPS, x, x, denominator);
        });
    }

    private void eachRow(int field, Consumer<Vector> step) {
        General vectors = General.R10;
        Label rows = begin();
        code.load(vectors, at(ARGUMENTS, STRIDE));
        code.emit(Opcode.VBROADCASTSS, number, at(OTHER, field));
        Label loop = code.here();
        step.accept(number);
        code.emit(Opcode.VMOVUPS_STORE, at(TO, 0), x);
        code.add(FROM, bytes);
        code.add(TO, bytes);
        code.add(vectors, -1);
        code.jumpIfNotZero(loop);
        code.add(OTHER, ROW_BYTES);
        code.add(LEFT, -1);
        code.jumpIfNotZero(rows);
    }

    /** The exponential of {@link #x} becomes {@link #sum}. */
    private void exponential() {
        code.emit(Opcode.VMOVUPS, sum, constant(LOWEST));
        code.emit(Opcode.VMAXPS, x, sum, x);
        code.emit(Opcode.VMOVUPS, sum, constant(HIGHEST));
        code.emit(Opcode.VMINPS, x, sum, x);
        code.emit(Opcode.VMOVUPS, rounded, constant(LOG2_E));
        code.emit(Opcode.VFMADD213PS, rounded, x, constant(ROUND));
        code.emit(Opcode.VSUBPS, whole, rounded, constant(ROUND));
        code.emit(Opcode.VFMADD231PS, x, whole, constant(LESS_LN_2_HIGH));
        code.emit(Opcode.VFMADD231PS, x, whole, constant(LESS_LN_2_LOW));
        code.emit(Opcode.VMOVUPS, sum, constant(COEFFICIENTS));
        for (int i = 1; i < EXPONENTIAL.size(); i++) {
            code.emit(Opcode.VFMADD213PS, sum, x, constant(COEFFICIENTS + i));
        }
        code.emit(Opcode.VMULPS, square, x, x);
        code.emit(Opcode.VADDPS, x, x, constant(ONE));
        code.emit(Opcode.VFMADD213PS, sum, square, x);
        code.emit(Opcode.VPSUBD, rounded, rounded, constant(ROUND)); // an integer in the low bits
        code.shift(Opcode.VPSRAD, whole, rounded, 1);
        code.emit(Opcode.VPSUBD, rounded, rounded, whole);
        multiplyByPowerOfTwo(whole);
        multiplyByPowerOfTwo(rounded);
    }

    private void multiplyByPowerOfTwo(Vector exponent) {
        code.emit(Opcode.VPADDD, exponent, exponent, constant(EXPONENT_OF_ONE));
        code.shift(Opcode.VPSLLD, exponent, exponent, EXPONENT_AT);
        code.emit(Opcode.VMULPS, sum, sum, exponent);
    }
}
