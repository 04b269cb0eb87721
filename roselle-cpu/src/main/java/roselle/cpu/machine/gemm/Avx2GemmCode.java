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
import roselle.cpu.machine.panel.Constants;
import roselle.cpu.machine.panel.Panel;

/**
 * Writes what {@link GemmCode} writes for float32, with AVX2 and FMA alone: the same formula, arguments, order and bits.
 *
 * <p>Sixteen registers of eight numbers hold the sums of a block for up to six rows times a panel's two halves; the sums of
 * blocks are kept in the output, where a scale meets them once for 32 products.
 *
 * <p>Registers: 0 to 11 sums of rows and halves, 12 and 13 weights, 14 a number of x, 15 what a step needs.
 */
final class Avx2GemmCode {
    /** Rows and panels at most, multiplied. */
    static final int MOST = 6;

    private static final int HALF_LANES = 8;
    private static final int HALF_BYTES = 32;
    private static final int PREFETCH_BYTES = 1024;

    private static final General[] ROWS = {General.RCX, General.RAX};
    private static final General[] OUT = {General.R9, General.RBX};
    private static final General OUT_STRIDE = General.RBP;
    private static final General CONSTANTS = General.R10;

    private static final Vector[] HALVES = {ymm(12), ymm(13)};
    private static final Vector NUMBER = ymm(14);
    private static final Vector STEP = ymm(15);

    private final Assembler code = new Assembler();
    private final Panel panel;
    private final int rows;
    private final int panels;
    private final PanelWalk walk;

    private Avx2GemmCode(Panel panel, int rows, int panels) {
        this.panel = panel;
        this.rows = rows;
        this.panels = panels;
        walk = new PanelWalk(code, panel);
    }

    /** The code for so many rows and so many panels at a time. */
    static byte[] of(Panel panel, int rows, int panels) {
        if (rows < 1 || panels < 1 || rows * panels > MOST || panels > 4) {
            throw new IllegalArgumentException(rows + " rows of " + panels + " panels");
        }
        return new Avx2GemmCode(panel, rows, panels).routine();
    }

    private byte[] routine() {
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
        group();
        code.load(OTHER, argument(Arguments.GROUPS));
        code.add(OTHER, -1);
        code.store(argument(Arguments.GROUPS), OTHER);
        code.compare(OTHER, 0);
        code.jumpIfNotZero(next);
        return GemmRegisters.end(code);
    }

    /** Some panels side by side, for all of k. */
    private void group() {
        points(0);
        for (int i = 0; i < 2 * rows * panels; i++) {
            zero(ymm(i));
        }
        if (panel.hasScales()) {
            storeSums();
        }
        walk.units(this::block);
        if (panel.hasMinima()) {
            minima();
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

    private void number(int row, int bytes) {
        code.emit(Opcode.VBROADCASTSS, NUMBER, ofRow(ROWS, STRIDE, row, bytes));
    }

    private static Memory output(int row, int p, int half) {
        return ofRow(OUT, OUT_STRIDE, row, (2 * p + half) * HALF_BYTES);
    }

    private void advanceRows(int bytes) {
        code.add(ROWS[0], bytes);
        code.add(ROWS[1], bytes);
    }

    private Vector sum(int p, int row, int half) {
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
    private void block(boolean hasFactors) {
        int bytes = panel.blockBytes();
        GemmRegisters.prefetch(code, panels, PREFETCH_BYTES, bytes);
        for (int i = 0; i < 2 * rows * panels && panel.hasScales(); i++) {
            zero(ymm(i));
        }
        for (int k = 0; k < panel.block(); k++) {
            for (int p = 0; p < panels; p++) {
                weights(p, k);
                for (int r = 0; r < rows; r++) {
                    number(r, k * Float.BYTES);
                    for (int half = 0; half < 2; half++) {
                        code.emit(Opcode.VFMADD231PS, sum(p, r, half), HALVES[half], NUMBER);
                    }
                }
            }
        }
        for (int p = 0; p < panels && panel.hasScales(); p++) {
            scale(p, hasFactors);
        }
        code.add(CODES, bytes);
        advanceRows(panel.block() * Float.BYTES);
    }

    /** Adds a panel's sums of the block, times their scales, to those in the output. */
    private void scale(int p, boolean hasFactors) {
        for (int half = 0; half < 2; half++) {
            if (!hasFactors) {
                code.emit(Opcode.VCVTPH2PS, HALVES[half], ofPanel(SCALES, p, half * HALF_LANES * Short.BYTES));
            } else {
                factor(half, panel.scaleFactor(), p, 0);
            }
            for (int r = 0; r < rows; r++) {
                code.emit(Opcode.VMOVUPS, STEP, output(r, p, half));
                code.emit(Opcode.VFMADD231PS, STEP, sum(p, r, half), HALVES[half]);
                code.emit(Opcode.VMOVUPS_STORE, output(r, p, half), STEP);
            }
        }
    }

    /** The factors of a block, times those of the unit. */
    private void factor(int half, Opcode widen, int p, int bytes) {
        Vector target = HALVES[half];
        code.emit(widen, target, ofPanel(SCALES, p, bytes + half * HALF_LANES));
        code.emit(Opcode.VCVTDQ2PS, target, target);
        code.emit(Opcode.VCVTPH2PS, STEP, ofPanel(OTHER, p, half * HALF_LANES * Short.BYTES));
        code.emit(Opcode.VMULPS, target, target, STEP);
    }

    /** Brings a panel's numbers of one k to registers. */
    private void weights(int p, int k) {
        for (int half = 0; half < 2; half++) {
            Vector target = HALVES[half];
            int lanes = half * HALF_BYTES;
            switch (panel.codes()) {
                case BYTES -> {
                    int at = k * Panel.OUTPUTS + half * HALF_LANES;
                    code.emit(Opcode.VPMOVSXBD, target, ofPanel(CODES, p, at));
                    code.emit(Opcode.VCVTDQ2PS, target, target);
                }
                case NIBBLES, PLAIN_NIBBLES -> nibbles(target, p, k, lanes);
                case SIX_BITS -> sixBits(target, p, k, lanes);
                case BFLOAT16 -> {
                    Memory pair = ofPanel(CODES, p, k / 2 * 64 + lanes);
                    code.emit(Opcode.VMOVUPS, target, pair);
                    if (k % 2 == 0) {
                        code.shift(Opcode.VPSLLD, target, target, 16);
                    } else {
                        code.emit(Opcode.VPANDD, target, target, at(CONSTANTS, Constants.UPPER_MASK));
                    }
                }
                case FLOAT16 -> code.emit(Opcode.VCVTPH2PS, target, ofPanel(CODES, p, k * 32 + lanes / 2));
                case FLOAT32 -> code.emit(Opcode.VMOVUPS, target, ofPanel(CODES, p, k * 64 + lanes));
            }
        }
    }

    /** A table has what a code is more than the smallest, so that code 0, which is all else, stays 0. */
    private void nibbles(Vector target, int p, int k, int lanes) {
        code.emit(Opcode.VMOVUPS, target, ofPanel(CODES, p, k / 8 * 64 + lanes));
        int shift = k % 8 / 2 * 4 + k % 2 * 16;
        if (shift > 0) {
            code.shift(Opcode.VPSRLD, target, target, shift);
        }
        if (shift < 28) {
            code.emit(Opcode.VPANDD, target, target, at(CONSTANTS, Constants.FOUR_BITS));
        }
        if (panel.codes() == Panel.Codes.NIBBLES) {
            code.emit(Opcode.VMOVUPS, STEP, at(CONSTANTS, Constants.BYTES));
            code.emit(Opcode.VPSHUFB, target, STEP, target);
        }
        code.emit(Opcode.VCVTDQ2PS, target, target);
        if (panel.codes() == Panel.Codes.NIBBLES) {
            code.emit(Opcode.VADDPS, target, target, at(CONSTANTS, Constants.SMALLEST));
        }
    }

    private void sixBits(Vector target, int p, int k, int lanes) {
        int pair = k % 16 / 2;
        int words = k / 16 * 3 * 64;
        int word = pair < 3 ? 0 : pair < 6 ? 1 : 2;
        int shift = pair % 3 * 6 + k % 2 * 16;
        if (word == 2) { // its first two pairs only
            shift = (pair - 6) * 6 + k % 2 * 16;
        }
        code.emit(Opcode.VMOVUPS, target, ofPanel(CODES, p, words + word * 64 + lanes));
        if (shift > 0) {
            code.shift(Opcode.VPSRLD, target, target, shift);
        }
        boolean isSplit = word < 2 && pair % 3 == 2;
        code.emit(Opcode.VPANDD, target, target, at(CONSTANTS, isSplit ? Constants.FOUR_BITS : Constants.SIX_BITS));
        if (isSplit) {
            code.emit(Opcode.VMOVUPS, STEP, ofPanel(CODES, p, words + 2 * 64 + lanes));
            code.shift(Opcode.VPSRLD, STEP, STEP, (word == 0 ? 8 : 10) + k % 2 * 16);
            code.emit(Opcode.VPANDD, STEP, STEP, at(CONSTANTS, Constants.UPPER_TWO_OF_SIX_BITS));
            code.emit(Opcode.VPORD, target, target, STEP);
        }
        code.emit(Opcode.VCVTDQ2PS, target, target);
        code.emit(Opcode.VADDPS, target, target, at(CONSTANTS, Constants.SMALLEST));
    }

    /** Subtracts the minima, times the sums of x in their blocks, which lie behind a row's numbers. */
    private void minima() {
        for (int p = 0; p < panels; p++) {
            for (int r = 0; r < rows; r++) {
                for (int half = 0; half < 2; half++) {
                    code.emit(Opcode.VMOVUPS, sum(p, r, half), output(r, p, half));
                }
            }
        }
        points(Arguments.SUMS_AT);
        walk.minima(this::minima, () -> advanceRows(panel.blocks() * Float.BYTES));
        storeSums();
    }

    private void minima(int block, int factorsAt) {
        for (int p = 0; p < panels; p++) {
            factor(0, Opcode.VPMOVZXBD, p, factorsAt);
            factor(1, Opcode.VPMOVZXBD, p, factorsAt);
            for (int r = 0; r < rows; r++) {
                number(r, block * Float.BYTES);
                code.emit(Opcode.VFNMADD231PS, sum(p, r, 0), HALVES[0], NUMBER);
                code.emit(Opcode.VFNMADD231PS, sum(p, r, 1), HALVES[1], NUMBER);
            }
        }
    }
}
