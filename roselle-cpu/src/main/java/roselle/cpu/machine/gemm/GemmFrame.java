package roselle.cpu.machine.gemm;

import static roselle.cpu.machine.assembler.Operand.at;
import static roselle.cpu.machine.assembler.Operand.zmm;
import static roselle.cpu.machine.gemm.GemmRegisters.CODES;
import static roselle.cpu.machine.gemm.GemmRegisters.OTHER;
import static roselle.cpu.machine.gemm.GemmRegisters.PANEL_BYTES;
import static roselle.cpu.machine.gemm.GemmRegisters.SCALES;
import static roselle.cpu.machine.gemm.GemmRegisters.STRIDE;
import static roselle.cpu.machine.gemm.GemmRegisters.argument;
import static roselle.cpu.machine.gemm.GemmRegisters.ofPanel;
import static roselle.cpu.machine.gemm.GemmRegisters.ofRow;

import roselle.cpu.machine.assembler.Assembler;
import roselle.cpu.machine.assembler.Assembler.Label;
import roselle.cpu.machine.assembler.Opcode;
import roselle.cpu.machine.assembler.Operand.General;
import roselle.cpu.machine.assembler.Operand.Memory;
import roselle.cpu.machine.assembler.Operand.Vector;
import roselle.cpu.machine.panel.Panel;

/**
 * Writes what products in vectors of 512 bits have in common: the walk over groups of panels, over k and over its blocks, and
 * the outputs.
 *
 * <p>Registers: 0 to 11 sums of rows and panels, 12 to 23 their sums in the current block, 24 to 26 constants, 27 to 31
 * what a step needs. A sum waits for the one before it, so that twelve are too few to keep the processor busy: where there
 * are more, 0 to 23 are those of the current block, and the sums over all blocks lie in memory meanwhile.
 */
final class GemmFrame {
    /** Rows at most. */
    static final int MAX_ROWS = 12;

    static final int MAX_PANELS = 2;

    /** Sums at most. */
    static final int MAX_SUMS = MAX_ROWS * MAX_PANELS;

    /** The same where all sums have registers of their own. */
    private static final int MAX_IN_REGISTERS = 12;

    /** What one kind of product does in its own way. */
    interface Parts {
        /** Fills the registers of constants, from those whose address a register holds. */
        void constants(General address);

        /** Begins a block's sums. */
        void begin();

        /** How many pieces a block's numbers come in. */
        int pieces();

        /** Adds to a block's sums what a piece of the numbers of a panel's block gives with those of each row. */
        void numbers(int panel, int piece);

        /** Adds a panel's sums of a block, times its scales, to the sums of all blocks. */
        void addBlock(int panel, Vector scale);

        /** Bytes that a row has for a block. */
        int rowBytes();

        /** Which argument says where a row has the sums of its blocks, or 0 where they lie among its numbers. */
        int sumsArgument();

        /** Bytes from the sum of a row's block to that of the next. */
        int sumStride();

        /** Bytes from where they begin to the first. */
        int sumAt();
    }

    private static final int LINE = 64;
    private static final General[] ROWS = {General.RCX, General.RAX, General.RBX, General.RBP};
    private static final General OUT = General.R9;
    private static final General PANELS_LEFT = General.R10;

    private static final int FIRST_STEP = 27;

    private final Assembler code = new Assembler();
    private final Panel panel;
    private final int rows;
    private final int panels;
    private final PanelWalk walk;

    /** For so many rows and so many panels at a time. */
    GemmFrame(Panel panel, int rows, int panels) {
        if (rows < 1 || rows > MAX_ROWS || panels < 1 || panels > MAX_PANELS) {
            throw new IllegalArgumentException(rows + " rows of " + panels + " panels");
        }
        this.panel = panel;
        this.rows = rows;
        this.panels = panels;
        walk = new PanelWalk(code, panel);
    }

    Assembler code() {
        return code;
    }

    int rows() {
        return rows;
    }

    int panels() {
        return panels;
    }

    /** The whole product. */
    byte[] routine(Parts parts) {
        GemmRegisters.begin(code);
        code.load(CODES, argument(Arguments.WEIGHTS));
        code.load(OUT, argument(Arguments.OUTPUT));
        code.load(PANELS_LEFT, argument(Arguments.GROUPS));
        code.load(STRIDE, argument(Arguments.STRIDE));
        GemmRegisters.panelBytes(code);
        code.load(OTHER, argument(Arguments.CONSTANTS));
        parts.constants(OTHER);
        Label next = code.here();
        group(parts);
        code.add(PANELS_LEFT, -1);
        code.jumpIfNotZero(next);
        return GemmRegisters.end(code);
    }

    /** Some panels side by side, for all of k. */
    private void group(Parts parts) {
        points(0);
        for (int i = 0; i < rows * panels; i++) {
            zero(sum(i));
            if (isInMemory()) {
                code.emit(Opcode.VMOVUPS_STORE, inMemory(i), sum(i));
            }
        }
        walk.units(hasFactors -> block(parts, hasFactors));
        for (int i = 0; i < rows * panels && isInMemory(); i++) {
            code.emit(Opcode.VMOVUPS, sum(i), inMemory(i));
        }
        if (panel.hasMinima()) {
            minima(parts);
        }
        results();
        // what follows the codes that were read, up to the first panel of the next group
        code.load(CODES, argument(Arguments.WEIGHTS));
        code.address(CODES, at(CODES, PANEL_BYTES, panels, 0));
        code.store(argument(Arguments.WEIGHTS), CODES);
    }

    /** Lets the rows' registers point to the rows, or to what lies behind their numbers. */
    private void points(int argument) {
        GemmRegisters.firstRow(code, ROWS[0], argument);
        code.address(OTHER, at(STRIDE, STRIDE, 2, 0));
        for (int i = 1; i * 3 < rows; i++) {
            code.move(ROWS[i], ROWS[i - 1]);
            code.add(ROWS[i], OTHER);
        }
    }

    /** A number of a row, given to all lanes. */
    Memory number(int row, int bytes) {
        return place(row, bytes).toAllLanes();
    }

    /** Where a row has a number. */
    Memory place(int row, int bytes) {
        return ofRow(ROWS, STRIDE, row, bytes);
    }

    /** Codes of the panel with an index, from those of the current block on. */
    Memory codes(int index, int bytes) {
        return ofPanel(CODES, index, bytes);
    }

    private void advanceRows(int bytes) {
        for (int i = 0; i * 3 < rows; i++) {
            code.add(ROWS[i], bytes);
        }
    }

    /** The sum of a row and a panel over all blocks, once they are summed. */
    private static Vector sum(int index) {
        return zmm(index);
    }

    private boolean isInMemory() {
        return panel.hasScales() && rows * panels > MAX_IN_REGISTERS;
    }

    /** The same before, where registers are too few. */
    private static Memory inMemory(int index) {
        return argument(Arguments.SUMS + index * LINE);
    }

    /** Its sum in the current block. */
    Vector blockSum(int index) {
        return panel.hasScales() && !isInMemory() ? zmm(MAX_IN_REGISTERS + index) : sum(index);
    }

    /** Adds a sum of the current block, which float32 it is by now, to that of all blocks, times a factor. */
    void addTimes(int index, Vector factor) {
        if (isInMemory()) {
            code.emit(Opcode.VFMADD213PS, blockSum(index), factor, inMemory(index));
            code.emit(Opcode.VMOVUPS_STORE, inMemory(index), blockSum(index));
        } else {
            code.emit(Opcode.VFMADD231PS, sum(index), blockSum(index), factor);
        }
    }

    /** One of five registers for what a step needs. */
    static Vector step(int index) {
        return zmm(FIRST_STEP + index);
    }

    void zero(Vector register) {
        code.emit(Opcode.VPXORD, register, register, register);
    }

    /** Numbers of k that share a scale. */
    private void block(Parts parts, boolean hasFactors) {
        int bytes = panel.blockBytes();
        prefetch(bytes);
        parts.begin();
        for (int piece = 0; piece < parts.pieces(); piece++) {
            for (int p = 0; p < panels; p++) {
                parts.numbers(p, piece);
            }
        }
        for (int p = 0; p < panels && panel.hasScales(); p++) {
            Vector scale = step(0);
            if (!hasFactors) {
                code.emit(Opcode.VCVTPH2PS, scale, ofPanel(SCALES, p, 0));
            } else {
                scaled(scale, panel.scaleFactor(), ofPanel(SCALES, p, 0), ofPanel(OTHER, p, 0));
            }
            parts.addBlock(p, scale);
        }
        code.add(CODES, bytes);
        advanceRows(parts.rowBytes());
    }

    /**
     * Fetches the same block of the next group: many rows take so long with a line that the processor looks ahead too
     * little, and each panel would be a stream of its own whose begin it does not foresee.
     */
    private void prefetch(int blockBytes) {
        for (int line = 0; line < blockBytes; line += LINE) {
            for (int p = 0; p < panels; p++) {
                code.prefetch(codes(panels + p, line));
            }
        }
    }

    private void scaled(Vector target, Opcode widen, Memory factors, Memory unitScale) {
        code.emit(widen, target, factors);
        code.emit(Opcode.VCVTDQ2PS, target, target);
        code.emit(Opcode.VCVTPH2PS, step(1), unitScale);
        code.emit(Opcode.VMULPS, target, target, step(1));
    }

    /** Subtracts the minima, times the sums of x in their blocks, which lie where the parts say. */
    private void minima(Parts parts) {
        points(parts.sumsArgument());
        walk.minima(
                (b, factorsAt) -> minima(parts, b, factorsAt), () -> advanceRows(panel.blocks() * parts.sumStride()));
    }

    private void minima(Parts parts, int block, int factorsAt) {
        for (int p = 0; p < panels; p++) {
            if (panel.minima() == Panel.Factors.WHOLE) {
                code.emit(Opcode.VCVTPH2PS, step(0), ofPanel(OTHER, p, 0));
            } else {
                scaled(step(0), Opcode.VPMOVZXBD, ofPanel(SCALES, p, factorsAt), ofPanel(OTHER, p, 0));
            }
            for (int r = 0; r < rows; r++) {
                Memory sumOfX = number(r, block * parts.sumStride() + parts.sumAt());
                code.emit(Opcode.VFNMADD231PS, sum(p * rows + r), step(0), sumOfX);
            }
        }
    }

    private void results() {
        code.load(OTHER, argument(Arguments.OUTPUT_STRIDE));
        code.move(ROWS[0], OUT);
        for (int r = 0; r < rows; r++) {
            for (int p = 0; p < panels; p++) {
                code.emit(Opcode.VMOVUPS_STORE, at(ROWS[0], p * 64), sum(p * rows + r));
            }
            code.add(ROWS[0], OTHER);
        }
        code.add(OUT, panels * 64);
    }
}
