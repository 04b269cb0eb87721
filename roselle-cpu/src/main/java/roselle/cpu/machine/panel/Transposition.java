package roselle.cpu.machine.panel;

import static roselle.cpu.machine.assembler.Operand.zmm;

import roselle.cpu.machine.assembler.Assembler;
import roselle.cpu.machine.assembler.Opcode;

/** Writes the turning around of sixteen vectors of sixteen words, by way of all 32 registers. */
final class Transposition {
    static final int LINES = 16;

    private static final int EVEN_LANES = 0x88;
    private static final int ODD_LANES = 0xDD;

    private Transposition() {}

    /** Brings a line of each of sixteen rows, from some bytes on, to the registers 0 to 15, a word of all rows in each. */
    static void load(Assembler code, int bytes) {
        loadRows(code, bytes);
        turn(code);
    }

    /** Turns the registers 0 to 15 around. */
    static void turn(Assembler code) {
        pairsAndFours(code);
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

    /** The same for the first five words of a line alone. */
    static void loadFive(Assembler code, int bytes) {
        loadRows(code, bytes);
        pairsAndFours(code);
        for (int c = 0; c < 4; c++) {
            code.emit(Opcode.VSHUFI32X4, zmm(16 + c), zmm(c), zmm(4 + c), EVEN_LANES);
            code.emit(Opcode.VSHUFI32X4, zmm(24 + c), zmm(8 + c), zmm(12 + c), EVEN_LANES);
        }
        code.emit(Opcode.VSHUFI32X4, zmm(20), zmm(0), zmm(4), ODD_LANES);
        code.emit(Opcode.VSHUFI32X4, zmm(28), zmm(8), zmm(12), ODD_LANES);
        for (int c = 0; c < 4; c++) {
            code.emit(Opcode.VSHUFI32X4, zmm(c), zmm(16 + c), zmm(24 + c), EVEN_LANES);
        }
        code.emit(Opcode.VSHUFI32X4, zmm(4), zmm(20), zmm(28), EVEN_LANES);
    }

    private static void loadRows(Assembler code, int bytes) {
        for (int row = 0; row < LINES; row++) {
            code.emit(Opcode.VMOVUPS, zmm(row), TileFrame.row(row, bytes));
        }
    }

    private static void pairsAndFours(Assembler code) {
        for (int i = 0; i < LINES; i += 2) {
            code.emit(Opcode.VPUNPCKLDQ, zmm(16 + i), zmm(i), zmm(i + 1));
            code.emit(Opcode.VPUNPCKHDQ, zmm(17 + i), zmm(i), zmm(i + 1));
        }
        for (int i = 0; i < LINES; i += 4) {
            code.emit(Opcode.VPUNPCKLQDQ, zmm(i), zmm(16 + i), zmm(18 + i));
            code.emit(Opcode.VPUNPCKHQDQ, zmm(i + 1), zmm(16 + i), zmm(18 + i));
            code.emit(Opcode.VPUNPCKLQDQ, zmm(i + 2), zmm(17 + i), zmm(19 + i));
            code.emit(Opcode.VPUNPCKHQDQ, zmm(i + 3), zmm(17 + i), zmm(19 + i));
        }
    }
}
