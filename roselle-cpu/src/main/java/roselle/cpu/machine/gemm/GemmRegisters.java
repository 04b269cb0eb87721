package roselle.cpu.machine.gemm;

import static roselle.cpu.machine.assembler.Operand.at;

import roselle.cpu.machine.assembler.Assembler;
import roselle.cpu.machine.assembler.Operand.General;
import roselle.cpu.machine.assembler.Operand.Memory;

/** The general registers of products in vectors, whatever the vectors' width, and the places that they point to. */
final class GemmRegisters {
    static final General CODES = General.RSI;
    static final General SCALES = General.RDX;
    static final General STRIDE = General.R8;
    static final General UNITS_LEFT = General.R11;
    static final General PANEL_BYTES = General.R12;
    static final General PANEL_BYTES_3 = General.R13;
    static final General BLOCKS_LEFT = General.R14;
    static final General OTHER = General.R15;

    private static final General ARGUMENTS = General.RDI;
    private static final General[] SAVED = {General.RBX, General.RBP, General.R12, General.R13, General.R14, General.R15
    };

    private GemmRegisters() {}

    /** Saves the caller's registers. */
    static void begin(Assembler code) {
        for (General register : SAVED) {
            code.push(register);
        }
    }

    /** Restores the caller's registers and returns. */
    static byte[] end(Assembler code) {
        for (int i = SAVED.length - 1; i >= 0; i--) {
            code.pop(SAVED[i]);
        }
        code.ret();
        return code.bytes();
    }

    /** Loads how far panels are from each other, once and three times, for {@link #ofPanel}. */
    static void panelBytes(Assembler code) {
        code.load(PANEL_BYTES, argument(Arguments.PANEL_BYTES));
        code.address(PANEL_BYTES_3, at(PANEL_BYTES, PANEL_BYTES, 2, 0));
    }

    /** Lets a register point to the first row of x, or to what lies some bytes on, as an argument says; 0 for none. */
    static void firstRow(Assembler code, General row, int bytesArgument) {
        code.load(row, argument(Arguments.INPUT));
        if (bytesArgument != 0) {
            code.load(OTHER, argument(bytesArgument));
            code.add(row, OTHER);
        }
    }

    static Memory argument(int offset) {
        return at(ARGUMENTS, offset);
    }

    /** A place of one of four panels that lie side by side, from that of the first one on. */
    static Memory ofPanel(General base, int index, int bytes) {
        return switch (index) {
            case 0 -> at(base, bytes);
            case 1 -> at(base, PANEL_BYTES, 1, bytes);
            case 2 -> at(base, PANEL_BYTES, 2, bytes);
            default -> at(base, PANEL_BYTES_3, 1, bytes);
        };
    }

    /** A place of a row, where each base points to the row three after the one before. */
    static Memory ofRow(General[] bases, General stride, int row, int bytes) {
        General base = bases[row / 3];
        return row % 3 == 0 ? at(base, bytes) : at(base, stride, row % 3, bytes);
    }

    /** Fetches what lies some bytes after the codes of a block, of so many panels. */
    static void prefetch(Assembler code, int panels, int ahead, int blockBytes) {
        for (int line = 0; line < blockBytes; line += 64) {
            for (int p = 0; p < panels; p++) {
                code.prefetch(ofPanel(CODES, p, ahead + line));
            }
        }
    }
}
