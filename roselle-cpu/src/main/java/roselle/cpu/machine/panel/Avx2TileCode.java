package roselle.cpu.machine.panel;

import static roselle.cpu.machine.assembler.Operand.at;
import static roselle.cpu.machine.assembler.Operand.ymm;
import static roselle.cpu.machine.panel.TileFrame.FROM;
import static roselle.cpu.machine.panel.TileFrame.STEP;
import static roselle.cpu.machine.panel.TileFrame.TO;

import roselle.cpu.machine.assembler.Assembler;
import roselle.cpu.machine.assembler.Assembler.Label;
import roselle.cpu.machine.assembler.Opcode;
import roselle.cpu.machine.assembler.Operand.General;
import roselle.tensor.DataType;

/** Writes what {@link TileCode} and {@link ConversionCode} write for float32, with AVX2 alone: the same arguments and bits. */
public final class Avx2TileCode {
    private static final int LINE = 64;
    private static final int HALF = 32;
    private static final int LOWER_HALVES = 0x20;
    private static final int UPPER_HALVES = 0x31;

    private final TileFrame frame = new TileFrame();
    private final Assembler code = frame.code();

    private Avx2TileCode() {}

    /** A row of activations as it is, then the sum of each 32. */
    public static byte[] convertActivations() {
        var code = new Assembler();
        code.load(General.RSI, at(General.RDI, ConversionCode.SOURCE));
        code.load(General.RDX, at(General.RDI, ConversionCode.TARGET));
        code.load(General.RCX, at(General.RDI, ConversionCode.SUMS));
        code.load(General.R8, at(General.RDI, ConversionCode.BLOCKS));
        code.load(General.RAX, at(General.RDI, ConversionCode.TABLES));
        for (int i = 1; i < 4; i++) {
            code.emit(Opcode.VMOVUPS, ymm(12 + i), at(General.RAX, Constants.ROTATIONS + LINE * i));
        }
        Label next = code.here();
        for (int i = 0; i < 4; i++) {
            code.emit(Opcode.VMOVUPS, ymm(i), at(General.RSI, i * HALF));
            code.emit(Opcode.VMOVUPS_STORE, at(General.RDX, i * HALF), ymm(i));
        }
        code.emit(Opcode.VADDPS, ymm(0), ymm(0), ymm(2));
        code.emit(Opcode.VADDPS, ymm(1), ymm(1), ymm(3));
        code.emit(Opcode.VADDPS, ymm(0), ymm(0), ymm(1));
        for (int i = 1; i < 4; i++) {
            code.emit(Opcode.VPERMPS, ymm(1), ymm(12 + i), ymm(0));
            code.emit(Opcode.VADDPS, ymm(0), ymm(0), ymm(1));
        }
        code.emit(Opcode.VMOVUPS_STORE, at(General.RCX, 0), ymm(0));
        code.add(General.RSI, 4 * HALF);
        code.add(General.RDX, 4 * HALF);
        code.add(General.RCX, Float.BYTES);
        code.add(General.R8, -1);
        code.jumpIfNotZero(next);
        code.ret();
        return code.bytes();
    }

    /** Numbers that follow each other, so many times 32, from a type to float32. */
    static byte[] convert(DataType type) {
        var writer = new Avx2TileCode();
        Assembler code = writer.code;
        Label next = code.here();
        for (int i = 0; i < 4; i++) {
            writer.frame.widen(type, ymm(i), i);
            code.emit(Opcode.VMOVUPS_STORE, at(TO, i * HALF), ymm(i));
        }
        code.add(FROM, 32 * type.blockBytes());
        code.add(TO, 4 * HALF);
        return writer.frame.end(next);
    }

    /** Sixteen rows of a type become a panel of float32: so many times sixteen lines, with a number of each row in each. */
    static byte[] keys(DataType type) {
        var writer = new Avx2TileCode();
        int rowBytes = Panel.OUTPUTS * type.blockBytes();
        writer.code.load(General.RDI, at(General.RDI, TileCode.FETCHED));
        Label next = writer.frame.rows();
        writer.frame.fetch(General.RDI, Panel.OUTPUTS * rowBytes);
        for (int rows = 0; rows < 2; rows++) {
            for (int words = 0; words < 2; words++) {
                writer.quarter(type, rows, words);
            }
        }
        writer.frame.advance(rowBytes, 16 * LINE);
        return writer.frame.end(next);
    }

    /** Eight words of eight rows: words of pairs, of fours, then halves of registers. */
    private void quarter(DataType type, int rows, int words) {
        for (int row = 0; row < 8; row++) {
            int bytes = words * TileFrame.bytes(type, ymm(row));
            frame.widen(type, ymm(row), TileFrame.row(rows * 8 + row, bytes));
        }
        for (int i = 0; i < 8; i += 2) {
            code.emit(Opcode.VPUNPCKLDQ, ymm(8 + i), ymm(i), ymm(i + 1));
            code.emit(Opcode.VPUNPCKHDQ, ymm(9 + i), ymm(i), ymm(i + 1));
        }
        for (int i = 0; i < 8; i += 4) {
            code.emit(Opcode.VPUNPCKLQDQ, ymm(i), ymm(8 + i), ymm(10 + i));
            code.emit(Opcode.VPUNPCKHQDQ, ymm(i + 1), ymm(8 + i), ymm(10 + i));
            code.emit(Opcode.VPUNPCKLQDQ, ymm(i + 2), ymm(9 + i), ymm(11 + i));
            code.emit(Opcode.VPUNPCKHQDQ, ymm(i + 3), ymm(9 + i), ymm(11 + i));
        }
        for (int c = 0; c < 4; c++) {
            code.emit(Opcode.VPERM2I128, ymm(8 + c), ymm(c), ymm(4 + c), LOWER_HALVES);
            code.emit(Opcode.VPERM2I128, ymm(12 + c), ymm(c), ymm(4 + c), UPPER_HALVES);
        }
        for (int word = 0; word < 8; word++) {
            code.emit(Opcode.VMOVUPS_STORE, at(TO, (words * 8 + word) * LINE + rows * HALF), ymm(8 + word));
        }
    }

    /** So many pairs of rows of a type become two lines of each of so many panels of float32. */
    static byte[] values(DataType type) {
        var writer = new Avx2TileCode();
        return writer.frame.panels(type, () -> writer.pair(type));
    }

    private void pair(DataType type) {
        for (int half = 0; half < 2; half++) {
            int bytes = half * TileFrame.bytes(type, ymm(half));
            frame.widen(type, ymm(half), at(FROM, bytes));
            frame.widen(type, ymm(2 + half), at(FROM, STEP, 1, bytes));
        }
        for (int i = 0; i < 4; i++) {
            code.emit(Opcode.VMOVUPS_STORE, at(TO, i * HALF), ymm(i));
        }
        code.add(TO, 2 * LINE);
    }
}
