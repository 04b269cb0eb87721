package roselle.cpu.machine;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static roselle.cpu.machine.Operand.at;
import static roselle.cpu.machine.Operand.zmm;
import static roselle.cpu.machine.TileFrame.FROM;
import static roselle.cpu.machine.TileFrame.STEP;
import static roselle.cpu.machine.TileFrame.TO;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import roselle.cpu.machine.Assembler.Label;
import roselle.cpu.machine.Operand.General;
import roselle.cpu.machine.Operand.Vector;
import roselle.tensor.DataType;

/**
 * Writes what brings rows of numbers, keys, values and weights, into the panels that {@link ProductCode} reads.
 *
 * <p>Each routine takes the address of source, distance of rows, target and count, and some the address of
 * {@link #tables}.
 */
final class TileCode {
    static final int SOURCE = 0;
    static final int STRIDE = 8;
    static final int TARGET = 16;
    static final int COUNT = 24;
    static final int TABLES = 32;
    static final int SIZE = 40;

    /** Bytes of a block of Q8_0: its scale comes first. */
    static final int BLOCK_BYTES = 34;

    /** Bytes of a block of Q4_0 and IQ4_NL: its scale comes first. */
    static final int NIBBLE_BLOCK_BYTES = 18;

    /** Bytes of a super-block of Q4_K: its codes are the last two lines. */
    static final int SUPER_BLOCK_BYTES = 144;

    private static final int LINE = 64;
    private static final int EVEN_LANES = 0x88;
    private static final int ODD_LANES = 0xDD;

    private final TileFrame frame = new TileFrame();
    private final Assembler code = frame.code();

    private TileCode() {}

    /** Numbers that follow each other, so many times 32, from a type to a precision. */
    static byte[] convert(DataType type, Compute compute) {
        var writer = new TileCode();
        Assembler code = writer.code;
        Label next = code.here();
        if (type == DataType.BF16 && compute == Compute.BF16) {
            code.emit(Opcode.VMOVUPS, zmm(0), at(FROM, 0));
            code.emit(Opcode.VMOVUPS_STORE, at(TO, 0), zmm(0));
        } else {
            writer.frame.widen(type, zmm(0), 0);
            writer.frame.widen(type, zmm(1), 1);
            if (compute == Compute.BF16) {
                code.emit(Opcode.VCVTNE2PS2BF16, zmm(0), zmm(1), zmm(0));
                code.emit(Opcode.VMOVUPS_STORE, at(TO, 0), zmm(0));
            } else {
                code.emit(Opcode.VMOVUPS_STORE, at(TO, 0), zmm(0));
                code.emit(Opcode.VMOVUPS_STORE, at(TO, LINE), zmm(1));
            }
        }
        code.add(FROM, 32 * type.blockBytes());
        code.add(TO, 32 * compute.bytes());
        return writer.frame.end(next);
    }

    /** Sixteen rows of so many lines of 64 bytes become, line by line, sixteen lines with a word of 32 bits of each row. */
    static byte[] transpose() {
        var writer = new TileCode();
        Label next = writer.transposed();
        for (int line = 0; line < 16; line++) {
            writer.code.emit(Opcode.VMOVUPS_STORE, at(TO, line * LINE), zmm(line));
        }
        writer.frame.advance(LINE, 16 * LINE);
        return writer.frame.end(next);
    }

    /** The same, but the lower halves of a line come first, then the upper ones: numbers of 16 bits one k after the other. */
    static byte[] transposeHalves() {
        var writer = new TileCode();
        Assembler code = writer.code;
        Label next = writer.transposed();
        for (int line = 0; line < 16; line++) {
            code.emit(Opcode.VPMOVDW, at(TO, line * LINE), zmm(line));
            code.shift(Opcode.VPSRLD, zmm(line), zmm(line), 16);
            code.emit(Opcode.VPMOVDW, at(TO, line * LINE + LINE / 2), zmm(line));
        }
        writer.frame.advance(LINE, 16 * LINE);
        return writer.frame.end(next);
    }

    /** The codes of so many blocks of Q8_0 of sixteen rows: bytes one k after the other. It reads a line from a block on. */
    static byte[] transposeBytes() {
        var writer = new TileCode();
        Assembler code = writer.code;
        code.load(General.RDI, at(General.RDI, TABLES));
        Label next = writer.transposed();
        code.emit(Opcode.VMOVUPS, zmm(30), at(General.RDI, 0));
        code.emit(Opcode.VMOVUPS, zmm(31), at(General.RDI, LINE));
        for (int line = 0; line < 8; line++) {
            code.emit(Opcode.VPSHUFB, zmm(line), zmm(line), zmm(30));
            code.emit(Opcode.VPERMD, zmm(line), zmm(31), zmm(line));
            code.emit(Opcode.VMOVUPS_STORE, at(TO, line * LINE), zmm(line));
        }
        writer.frame.advance(BLOCK_BYTES, 8 * LINE);
        return writer.frame.end(next);
    }

    /** The codes of so many blocks of Q4_0 of sixteen rows, as a panel has them. It reads a line from a block on. */
    static byte[] transposeNibbles() {
        var writer = new TileCode();
        writer.code.load(General.RDI, at(General.RDI, TABLES));
        Label next = writer.transposed();
        writer.nibbles(2, 2);
        writer.frame.advance(NIBBLE_BLOCK_BYTES, 4 * LINE);
        return writer.frame.end(next);
    }

    /** The same of so many super-blocks of Q4_K, from the codes of the first on. */
    static byte[] transposeSuperBlocks() {
        var writer = new TileCode();
        writer.code.load(General.RDI, at(General.RDI, TABLES));
        Label next = writer.transposed();
        writer.nibbles(8, 4);
        writer.frame.advance(LINE, 16 * LINE);
        writer.load();
        writer.nibbles(8, 4);
        writer.frame.advance(SUPER_BLOCK_BYTES - LINE, 16 * LINE);
        return writer.frame.end(next);
    }

    /**
     * Writes the nibbles of pairs of lines, eight bytes of each output: the lower ones of a group of pairs are the numbers
     * before the upper ones.
     */
    private void nibbles(int pairs, int group) {
        code.emit(Opcode.VMOVUPS, zmm(29), at(General.RDI, 2 * LINE));
        code.emit(Opcode.VMOVUPS, zmm(30), at(General.RDI, 3 * LINE));
        code.emit(Opcode.VMOVUPS, zmm(31), at(General.RDI, 4 * LINE));
        for (int pair = 0; pair < pairs; pair++) {
            int line = pair / group * 2 * group + pair % group;
            paired(zmm(2 * pair), zmm(2 * pair + 1), line);
            code.shift(Opcode.VPSRLD, zmm(2 * pair), zmm(2 * pair), 4);
            code.shift(Opcode.VPSRLD, zmm(2 * pair + 1), zmm(2 * pair + 1), 4);
            paired(zmm(2 * pair), zmm(2 * pair + 1), line + group);
        }
    }

    /** The lower nibbles of four and four bytes: those of the even bytes, then those of the odd ones. */
    private void paired(Vector first, Vector second, int line) {
        fourths(zmm(16), first, zmm(30));
        fourths(zmm(18), second, zmm(31));
        code.emit(Opcode.VPORD, zmm(16), zmm(16), zmm(18));
        code.emit(Opcode.VMOVUPS_STORE, at(TO, line * LINE), zmm(16));
    }

    /** Brings the nibbles of bytes 0 and 2 into one byte, those of 1 and 3 into the next, then each to its place. */
    private void fourths(Vector target, Vector bytes, Vector places) {
        code.emit(Opcode.VPANDD, target, bytes, zmm(29));
        code.shift(Opcode.VPSRLD, zmm(17), target, 12);
        code.emit(Opcode.VPORD, target, target, zmm(17));
        code.emit(Opcode.VPSHUFB, target, target, places);
    }

    /**
     * What {@link #transposeBytes} turns words of four outputs into bytes of sixteen with, then a mask of nibbles and the
     * places of the bytes of {@link #paired}.
     */
    static MemorySegment tables(Arena arena) {
        MemorySegment tables = arena.allocate(5 * LINE, LINE);
        for (int i = 0; i < 16; i++) {
            tables.setAtIndex(JAVA_INT, 32 + i, 0x0F0F0F0F);
            tables.setAtIndex(JAVA_INT, 48 + i, 0x80008000 | evenBytes(i));
            tables.setAtIndex(JAVA_INT, 64 + i, 0x00800080 | evenBytes(i) << 8);
        }
        for (int i = 0; i < LINE; i++) {
            tables.set(JAVA_BYTE, i, (byte) (i % 4 * 4 + i % 16 / 4));
        }
        for (int i = 0; i < 16; i++) {
            tables.setAtIndex(JAVA_INT, 16 + i, i % 4 * 4 + i / 4);
        }
        return tables;
    }

    /** The first two bytes of a word in its quarter of a register, a byte between them. */
    private static int evenBytes(int word) {
        int first = word % 4 * 4;
        return first | (first + 1) << 16;
    }

    /** Begins a loop with a line of each of sixteen rows, transposed, in the registers 0 to 15. */
    private Label transposed() {
        Label next = frame.rows();
        load();
        return next;
    }

    private void load() {
        for (int row = 0; row < 16; row++) {
            code.emit(Opcode.VMOVUPS, zmm(row), TileFrame.row(row, 0));
        }
        transpose(code);
    }

    /** Registers 0 to 15, by way of 16 to 31: words of pairs, of fours, then quarters of registers twice. */
    private static void transpose(Assembler code) {
        for (int i = 0; i < 16; i += 2) {
            code.emit(Opcode.VPUNPCKLDQ, zmm(16 + i), zmm(i), zmm(i + 1));
            code.emit(Opcode.VPUNPCKHDQ, zmm(17 + i), zmm(i), zmm(i + 1));
        }
        for (int i = 0; i < 16; i += 4) {
            code.emit(Opcode.VPUNPCKLQDQ, zmm(i), zmm(16 + i), zmm(18 + i));
            code.emit(Opcode.VPUNPCKHQDQ, zmm(i + 1), zmm(16 + i), zmm(18 + i));
            code.emit(Opcode.VPUNPCKLQDQ, zmm(i + 2), zmm(17 + i), zmm(19 + i));
            code.emit(Opcode.VPUNPCKHQDQ, zmm(i + 3), zmm(17 + i), zmm(19 + i));
        }
        for (int c = 0; c < 4; c++) {
            code.emit(Opcode.VSHUFI32X4, zmm(16 + c), zmm(c), zmm(4 + c), EVEN_LANES);
            code.emit(Opcode.VSHUFI32X4, zmm(20 + c), zmm(c), zmm(4 + c), ODD_LANES);
            code.emit(Opcode.VSHUFI32X4, zmm(24 + c), zmm(8 + c), zmm(12 + c), EVEN_LANES);
            code.emit(Opcode.VSHUFI32X4, zmm(28 + c), zmm(8 + c), zmm(12 + c), ODD_LANES);
        }
        for (int c = 0; c < 4; c++) {
            code.emit(Opcode.VSHUFI32X4, zmm(c), zmm(16 + c), zmm(24 + c), EVEN_LANES);
            code.emit(Opcode.VSHUFI32X4, zmm(8 + c), zmm(16 + c), zmm(24 + c), ODD_LANES);
            code.emit(Opcode.VSHUFI32X4, zmm(4 + c), zmm(20 + c), zmm(28 + c), EVEN_LANES);
            code.emit(Opcode.VSHUFI32X4, zmm(12 + c), zmm(20 + c), zmm(28 + c), ODD_LANES);
        }
    }

    /** So many pairs of rows, sixteen numbers of each, become lines: pairs of bfloat16, or two lines of float32. */
    static byte[] interleave(Compute compute) {
        var writer = new TileCode();
        Assembler code = writer.code;
        Label next = code.here();
        if (compute == Compute.BF16) {
            code.emit(Opcode.VPMOVZXWD, zmm(0), at(FROM, 0));
            code.emit(Opcode.VPMOVZXWD, zmm(1), at(FROM, STEP, 1, 0));
            code.shift(Opcode.VPSLLD, zmm(1), zmm(1), 16);
            code.emit(Opcode.VPORD, zmm(0), zmm(0), zmm(1));
            code.emit(Opcode.VMOVUPS_STORE, at(TO, 0), zmm(0));
            code.add(TO, LINE);
        } else {
            code.emit(Opcode.VMOVUPS, zmm(0), at(FROM, 0));
            code.emit(Opcode.VMOVUPS, zmm(1), at(FROM, STEP, 1, 0));
            code.emit(Opcode.VMOVUPS_STORE, at(TO, 0), zmm(0));
            code.emit(Opcode.VMOVUPS_STORE, at(TO, LINE), zmm(1));
            code.add(TO, 2 * LINE);
        }
        code.address(FROM, at(FROM, STEP, 2, 0));
        return writer.frame.end(next);
    }
}
