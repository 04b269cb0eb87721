package roselle.cpu.machine.gemm;

import static roselle.cpu.machine.assembler.Operand.at;
import static roselle.cpu.machine.assembler.Operand.ymm;
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
 * Writes what products in vectors of 256 bits have in common: the walk over groups of panels, over k and over its blocks,
 * scales and minima.
 *
 * <p>Sixteen registers of eight numbers hold the sums of a block for up to six rows times a panel's two halves; the sums of
 * blocks are kept in the output, where a scale meets them once for 32 products.
 *
 * <p>Registers: 0 to 11 sums of rows and halves, 12 and 13 weights, 14 a number of x, 15 what a step needs.
 */
final class Avx2Frame {
    /** Rows and panels at most, multiplied. */
    static final int MOST = 6;

    static final int HALF_BYTES = 32;

    /** What one kind of product does in its own way. */
    interface Parts {
        /** Adds the products of a panel's block to the sums of its rows. */
        void numbers(int panel);

        /** Makes numbers of a panel's sums of a block, and adds them, times their scales in {@link #HALVES}, to the output. */
        void addBlock(int panel);

        /** Bytes that a row has for a block. */
        int rowBytes();

        /** Which argument says where a row has the sums of its blocks, or 0 where they lie among its numbers. */
        int sumsArgument();

        /** Bytes from the sum of a row's block to that of the next. */
        int sumStride();

        /** Bytes from where they begin to the first. */
        int sumAt();
    }

    private static final int HALF_LANES = 8;
    private static final int PREFETCH_BYTES = 1024;

    private static final General[] ROWS = {General.RCX, General.RAX};
    private static final General[] OUT = {General.R9, General.RBX};
    private static final General OUT_STRIDE = General.RBP;
    private static final General CONSTANTS = General.R10;

    static final Vector[] HALVES = {ymm(12), ymm(13)};
    static final Vector NUMBER = ymm(14);
    static final Vector STEP = ymm(15);

    private final Assembler code = new Assembler();
    private final Panel panel;
    private final int rows;
    private final int panels;
    private final PanelWalk walk;

    /** For so many rows and so many panels at a time. */
    Avx2Frame(Panel panel, int rows, int panels) {
        if (rows < 1 || panels < 1 || rows * panels > MOST || panels > 4) {
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

    /** The whole product. */
    byte[] routine(Parts parts) {
        GemmRegisters.begin(code);
        code.load(CODES, argument(Arguments.WEIGHTS));
        code.load(OUT[0], argument(Arguments.OUTPUT));
        code.load(OUT_STRIDE, argument(Arguments.OUTPUT_STRIDE));
        code.address(OUT[1], at(OUT_STRIDE, OUT_STRIDE, 2, 0));
        code.add(OUT[1], OUT[0]);
        code.load(STRIDE, argument(Arguments.STRIDE));
        code.load(CONSTANTS, argument(Arguments.CONSTANTS));
        GemmRegisters.panelBytes(code);
        Label next = code.here();
        group(parts);
        code.load(OTHER, argument(Arguments.GROUPS));
        code.add(OTHER, -1);
        code.store(argument(Arguments.GROUPS), OTHER);
        code.compare(OTHER, 0);
        code.jumpIfNotZero(next);
        return GemmRegisters.end(code);
    }

    /** Some panels side by side, for all of k. */
    private void group(Parts parts) {
        points(0);
        for (int i = 0; i < 2 * rows * panels; i++) {
            zero(ymm(i));
        }
        if (panel.hasScales()) {
            storeSums();
        }
        walk.units(hasFactors -> block(parts, hasFactors));
        if (panel.hasMinima()) {
            minima(parts);
        }
        if (!panel.hasScales()) {
            storeSums();
        }
        code.add(OUT[0], panels * 2 * HALF_BYTES);
        code.add(OUT[1], panels * 2 * HALF_BYTES);
        // what follows the codes that were read, up to the first panel of the next group
        code.load(CODES, argument(Arguments.WEIGHTS));
        for (int p = 0; p < panels; p++) {
            code.add(CODES, PANEL_BYTES);
        }
        code.store(argument(Arguments.WEIGHTS), CODES);
    }

    /** Lets the rows' registers point to the rows, or to what lies behind their numbers. */
    private void points(int argument) {
        GemmRegisters.firstRow(code, ROWS[0], argument);
        code.address(ROWS[1], at(STRIDE, STRIDE, 2, 0));
        code.add(ROWS[1], ROWS[0]);
    }

    /** Gives a number of a row to all lanes. */
    void number(int row, int bytes) {
        code.emit(Opcode.VBROADCASTSS, NUMBER, ofRow(ROWS, STRIDE, row, bytes));
    }

    /** Where a row has its outputs of half a panel. */
    static Memory output(int row, int p, int half) {
        return ofRow(OUT, OUT_STRIDE, row, (2 * p + half) * HALF_BYTES);
    }

    private void advanceRows(int bytes) {
        code.add(ROWS[0], bytes);
        code.add(ROWS[1], bytes);
    }

    Vector sum(int p, int row, int half) {
        return ymm((p * rows + row) * 2 + half);
    }

    private void zero(Vector register) {
        code.emit(Opcode.VPXORD, register, register, register);
    }

    private void storeSums() {
        for (int p = 0; p < panels; p++) {
            for (int r = 0; r < rows; r++) {
                for (int half = 0; half < 2; half++) {
                    code.emit(Opcode.VMOVUPS_STORE, output(r, p, half), sum(p, r, half));
                }
            }
        }
    }

    /** Numbers of k that share a scale. */
    private void block(Parts parts, boolean hasFactors) {
        GemmRegisters.prefetch(code, panels, PREFETCH_BYTES, panel.blockBytes());
        for (int i = 0; i < 2 * rows * panels && panel.hasScales(); i++) {
            zero(ymm(i));
        }
        for (int p = 0; p < panels; p++) {
            parts.numbers(p);
        }
        for (int p = 0; p < panels && panel.hasScales(); p++) {
            factors(hasFactors, panel.scaleFactor(), p, 0);
            parts.addBlock(p);
        }
        code.add(CODES, panel.blockBytes());
        advanceRows(parts.rowBytes());
    }

    /** Brings the scales or minima of a panel's block to {@link #HALVES}: float16 numbers, or factors of those of the unit. */
    private void factors(boolean areParts, Opcode widen, int p, int bytes) {
        for (int half = 0; half < 2; half++) {
            if (!areParts) {
                code.emit(Opcode.VCVTPH2PS, HALVES[half], ofPanel(SCALES, p, half * HALF_LANES * Short.BYTES));
            } else {
                factor(half, widen, p, bytes);
            }
        }
    }

    /** Codes of the panel with an index, from those of the current block on. */
    Memory codes(int index, int bytes) {
        return ofPanel(CODES, index, bytes);
    }

    /** One of the tables of the product's kind. */
    Memory constant(int bytes) {
        return at(CONSTANTS, bytes);
    }

    /** The factors of a block, times those of the unit. */
    private void factor(int half, Opcode widen, int p, int bytes) {
        Vector target = HALVES[half];
        code.emit(widen, target, ofPanel(SCALES, p, bytes + half * HALF_LANES));
        code.emit(Opcode.VCVTDQ2PS, target, target);
        code.emit(Opcode.VCVTPH2PS, STEP, ofPanel(OTHER, p, half * HALF_LANES * Short.BYTES));
        code.emit(Opcode.VMULPS, target, target, STEP);
    }

    /** Subtracts the minima, times the sums of x in their blocks, which lie behind a row's numbers. */
    private void minima(Parts parts) {
        for (int p = 0; p < panels; p++) {
            for (int r = 0; r < rows; r++) {
                for (int half = 0; half < 2; half++) {
                    code.emit(Opcode.VMOVUPS, sum(p, r, half), output(r, p, half));
                }
            }
        }
        points(parts.sumsArgument());
        walk.minima(
                (block, factorsAt) -> minima(parts, block, factorsAt),
                () -> advanceRows(panel.blocks() * parts.sumStride()));
        storeSums();
    }

    private void minima(Parts parts, int block, int factorsAt) {
        for (int p = 0; p < panels; p++) {
            factors(panel.minima() != Panel.Factors.WHOLE, Opcode.VPMOVZXBD, p, factorsAt);
            for (int r = 0; r < rows; r++) {
                number(r, block * parts.sumStride() + parts.sumAt());
                code.emit(Opcode.VFNMADD231PS, sum(p, r, 0), HALVES[0], NUMBER);
                code.emit(Opcode.VFNMADD231PS, sum(p, r, 1), HALVES[1], NUMBER);
            }
        }
    }
}
