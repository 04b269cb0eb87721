package roselle.cpu.machine;

import static roselle.cpu.machine.Operand.at;
import static roselle.cpu.machine.Operand.zmm;

import roselle.cpu.machine.Assembler.Label;
import roselle.cpu.machine.Operand.General;
import roselle.cpu.machine.Operand.Memory;
import roselle.cpu.machine.Operand.Vector;

/**
 * Writes the product of a few activation rows with panels of weights, in vectors of 512 bits.
 *
 * <p>Formula: {@code out[r][n] = sum over blocks b of scale[n][b] * (sum over k in b of value[n][k] * x[r][k])
 * - sum over b of minimum[n][b] * (sum over k in b of x[r][k])}. A lane is an output; a number of x is given to all lanes;
 * codes become numbers in registers and serve all rows at once. The order of a sum is that of k, whatever the number of rows
 * and panels: a row's bits depend on itself alone. {@link PanelProduct} is the scalar twin.
 *
 * <p>Registers: 0 to 11 sums of rows and panels, 12 to 23 their sums in the current block, 24 to 26 constants, 27 to 31
 * what a step needs.
 */
final class ProductCode {
    /** Rows and panels at most, multiplied. */
    static final int MOST = 12;

    private static final int LANES = 16;
    private static final int PREFETCH_BYTES = 2048;

    private static final General ARGUMENTS = General.RDI;
    private static final General CODES = General.RSI;
    private static final General SCALES = General.RDX;
    private static final General[] ROWS = {General.RCX, General.RAX, General.RBX, General.RBP};
    private static final General STRIDE = General.R8;
    private static final General OUT = General.R9;
    private static final General PANELS_LEFT = General.R10;
    private static final General UNITS_LEFT = General.R11;
    private static final General PANEL_BYTES = General.R12;
    private static final General PANEL_BYTES_3 = General.R13;
    private static final General BLOCKS_LEFT = General.R14;
    private static final General OTHER = General.R15;
    private static final General[] SAVED = {General.RBX, General.RBP, General.R12, General.R13, General.R14, General.R15
    };

    private static final Vector TABLE = zmm(24);
    private static final Vector TABLE_2 = zmm(25);
    private static final Vector MASK = zmm(26);
    private static final int FIRST_STEP = 27;

    private final Assembler code = new Assembler();
    private final Panel panel;
    private final Compute compute;
    private final int rows;
    private final int panels;

    private ProductCode(Panel panel, Compute compute, int rows, int panels) {
        this.panel = panel;
        this.compute = compute;
        this.rows = rows;
        this.panels = panels;
    }

    /** The code for so many rows and so many panels at a time. */
    static byte[] of(Panel panel, Compute compute, int rows, int panels) {
        if (rows < 1 || panels < 1 || rows * panels > MOST || panels > 4) {
            throw new IllegalArgumentException(rows + " rows of " + panels + " panels");
        }
        var writer = new ProductCode(panel, compute, rows, panels);
        writer.routine();
        return writer.code.bytes();
    }

    private void routine() {
        for (General register : SAVED) {
            code.push(register);
        }
        code.load(CODES, argument(Arguments.WEIGHTS));
        code.load(OUT, argument(Arguments.OUTPUT));
        code.load(PANELS_LEFT, argument(Arguments.GROUPS));
        code.load(STRIDE, argument(Arguments.STRIDE));
        code.load(PANEL_BYTES, argument(Arguments.PANEL_BYTES));
        code.address(PANEL_BYTES_3, at(PANEL_BYTES, PANEL_BYTES, 2, 0));
        constants();
        Label next = code.here();
        group();
        code.add(PANELS_LEFT, -1);
        code.jumpIfNotZero(next);
        for (int i = SAVED.length - 1; i >= 0; i--) {
            code.pop(SAVED[i]);
        }
        code.ret();
    }

    private static Memory argument(int offset) {
        return at(ARGUMENTS, offset);
    }

    private void constants() {
        code.load(OTHER, argument(Arguments.CONSTANTS));
        code.emit(Opcode.VMOVUPS, TABLE, at(OTHER, 0));
        code.emit(Opcode.VMOVUPS, TABLE_2, at(OTHER, Constants.TABLE_2));
        code.emit(Opcode.VMOVUPS, MASK, at(OTHER, maskAt()));
    }

    private int maskAt() {
        return switch (panel) {
            case SIX_BITS -> Constants.SIX_BITS_MASK;
            default -> Constants.UPPER_MASK;
        };
    }

    /** Some panels side by side, for all of k. */
    private void group() {
        points(0);
        code.move(SCALES, CODES);
        code.load(OTHER, argument(Arguments.SCALES_AT));
        code.add(SCALES, OTHER);
        for (int i = 0; i < rows * panels; i++) {
            zero(sum(i));
        }
        code.load(UNITS_LEFT, argument(Arguments.UNITS));
        Label next = code.here();
        unit();
        code.add(UNITS_LEFT, -1);
        code.jumpIfNotZero(next);
        if (panel.hasMinima()) {
            minima();
        }
        results();
        // what follows the codes that were read, up to the first panel of the next group
        code.load(CODES, argument(Arguments.WEIGHTS));
        switch (panels) {
            case 1 -> code.add(CODES, PANEL_BYTES);
            case 2 -> code.address(CODES, at(CODES, PANEL_BYTES, 2, 0));
            case 3 -> code.add(CODES, PANEL_BYTES_3);
            default -> {
                code.add(CODES, PANEL_BYTES_3);
                code.add(CODES, PANEL_BYTES);
            }
        }
        code.store(argument(Arguments.WEIGHTS), CODES);
    }

    /** Lets the rows' registers point to the rows, or to what lies behind their numbers. */
    private void points(int argument) {
        code.load(ROWS[0], argument(Arguments.INPUT));
        if (argument != 0) {
            code.load(OTHER, argument(argument));
            code.add(ROWS[0], OTHER);
        }
        code.address(OTHER, at(STRIDE, STRIDE, 2, 0));
        for (int i = 1; i * 3 < rows; i++) {
            code.move(ROWS[i], ROWS[i - 1]);
            code.add(ROWS[i], OTHER);
        }
    }

    /** A number of a row, given to all lanes. */
    private Memory number(int row, int bytes) {
        General base = ROWS[row / 3];
        Memory place = row % 3 == 0 ? at(base, bytes) : at(base, STRIDE, row % 3, bytes);
        return place.toAllLanes();
    }

    private void advanceRows(int bytes) {
        for (int i = 0; i * 3 < rows; i++) {
            code.add(ROWS[i], bytes);
        }
    }

    private static Memory ofPanel(General base, int index, int bytes) {
        return switch (index) {
            case 0 -> at(base, bytes);
            case 1 -> at(base, PANEL_BYTES, 1, bytes);
            case 2 -> at(base, PANEL_BYTES, 2, bytes);
            default -> at(base, PANEL_BYTES_3, 1, bytes);
        };
    }

    private static Vector sum(int index) {
        return zmm(index);
    }

    private Vector blockSum(int index) {
        return panel.hasScales() ? zmm(MOST + index) : sum(index);
    }

    private static Vector step(int index) {
        return zmm(FIRST_STEP + index);
    }

    private void zero(Vector register) {
        code.emit(Opcode.VPXORD, register, register, register);
    }

    private void unit() {
        int blocks = panel.unit / panel.block;
        if (blocks == 1) {
            block(0);
            code.add(SCALES, panel.scaleBytes);
            return;
        }
        code.address(OTHER, at(SCALES, 0)); // the scales of this unit
        code.add(SCALES, 2 * LANES);
        code.set(BLOCKS_LEFT, blocks);
        Label next = code.here();
        block(blocks);
        code.add(SCALES, LANES);
        code.add(BLOCKS_LEFT, -1);
        code.jumpIfNotZero(next);
    }

    /** Numbers of k that share a scale. */
    private void block(int blocks) {
        int bytes = panel.codeBytes / (panel.unit / panel.block);
        for (int line = 0; line < bytes; line += 64) {
            for (int p = 0; p < panels; p++) {
                code.prefetch(ofPanel(CODES, p, PREFETCH_BYTES + line));
            }
        }
        if (panel.hasScales()) {
            for (int i = 0; i < rows * panels; i++) {
                zero(blockSum(i));
            }
        }
        for (int p = 0; p < panels; p++) {
            numbers(p);
        }
        for (int p = 0; p < panels && panel.hasScales(); p++) {
            Vector scale = step(0);
            if (blocks == 0) {
                code.emit(Opcode.VCVTPH2PS, scale, ofPanel(SCALES, p, 0));
            } else {
                Opcode widen = panel == Panel.SIX_BITS ? Opcode.VPMOVSXBD : Opcode.VPMOVZXBD;
                scaled(scale, widen, ofPanel(SCALES, p, 0), ofPanel(OTHER, p, 0));
            }
            for (int r = 0; r < rows; r++) {
                int i = p * rows + r;
                code.emit(Opcode.VFMADD231PS, sum(i), blockSum(i), scale);
            }
        }
        code.add(CODES, bytes);
        advanceRows(panel.block * compute.bytes());
    }

    private void scaled(Vector target, Opcode widen, Memory factors, Memory unitScale) {
        code.emit(widen, target, factors);
        code.emit(Opcode.VCVTDQ2PS, target, target);
        code.emit(Opcode.VCVTPH2PS, step(1), unitScale);
        code.emit(Opcode.VMULPS, target, target, step(1));
    }

    private void numbers(int p) {
        switch (panel) {
            case BYTE -> bytes(p);
            case NIBBLE, NIBBLE_WITH_MINIMUM -> nibbles(p);
            case SIX_BITS -> sixBits(p);
            case BFLOAT16 -> bfloat16(p);
            case FLOAT16 -> floats(p, Opcode.VCVTPH2PS, 32);
            case FLOAT32 -> floats(p, Opcode.VMOVUPS, 64);
        }
    }

    private void bytes(int p) {
        for (int pair = 0; pair < 16; pair++) {
            Vector even = step(pair % 2 * 2);
            Vector odd = step(pair % 2 * 2 + 1);
            code.emit(Opcode.VPMOVSXBD, even, ofPanel(CODES, p, pair * 32));
            code.emit(Opcode.VPMOVSXBD, odd, ofPanel(CODES, p, pair * 32 + 16));
            code.emit(Opcode.VCVTDQ2PS, even, even);
            code.emit(Opcode.VCVTDQ2PS, odd, odd);
            if (compute == Compute.F32) {
                multiply(p, pair, even, odd);
            } else {
                code.shift(Opcode.VPSRLD, even, even, 16);
                code.emit(Opcode.VPTERNLOGD, even, odd, MASK, Constants.FIRST_OR_SECOND_AND_THIRD);
                multiplyPair(p, pair, even);
            }
        }
    }

    private void nibbles(int p) {
        for (int group = 0; group < 4; group++) {
            Vector packed = step(group % 2);
            code.emit(Opcode.VMOVUPS, packed, ofPanel(CODES, p, group * 64));
            for (int i = 0; i < 4; i++) {
                Vector index = packed;
                Vector pair = step(2 + i % 2);
                if (i > 0) {
                    code.shift(Opcode.VPSRLW, pair, packed, 4 * i);
                    index = pair;
                }
                code.emit(Opcode.VPERMW, pair, index, TABLE);
                multiplyEither(p, group * 4 + i, pair);
            }
        }
    }

    private void sixBits(int p) {
        Vector a = step(0);
        Vector b = step(1);
        Vector c = step(2);
        Vector next = step(3);
        code.emit(Opcode.VMOVUPS, a, ofPanel(CODES, p, 0));
        code.emit(Opcode.VMOVUPS, b, ofPanel(CODES, p, 64));
        code.emit(Opcode.VMOVUPS, c, ofPanel(CODES, p, 128));
        sixBits(p, 0, a, 0);
        sixBits(p, 1, a, 6);
        code.shift(Opcode.VPSRLW, a, a, 12);
        code.shift(Opcode.VPSRLW, next, c, 8);
        code.emit(Opcode.VPTERNLOGD, a, next, MASK, Constants.FIRST_OR_SECOND_AND_THIRD);
        sixBits(p, 2, a, 0);
        sixBits(p, 3, b, 0);
        sixBits(p, 4, b, 6);
        code.shift(Opcode.VPSRLW, b, b, 12);
        code.shift(Opcode.VPSRLW, next, c, 10);
        code.emit(Opcode.VPTERNLOGD, b, next, MASK, Constants.FIRST_OR_SECOND_AND_THIRD);
        sixBits(p, 5, b, 0);
        sixBits(p, 6, c, 0);
        sixBits(p, 7, c, 6);
    }

    private void sixBits(int p, int pair, Vector packed, int shift) {
        Vector index = step(3);
        if (shift == 0) {
            code.emit(Opcode.VMOVUPS, index, packed);
        } else {
            code.shift(Opcode.VPSRLW, index, packed, shift);
        }
        code.emit(Opcode.VPERMI2W, index, TABLE, TABLE_2);
        multiplyEither(p, pair, index);
    }

    private void bfloat16(int p) {
        for (int pair = 0; pair < 16; pair++) {
            Vector numbers = step(pair % 4);
            code.emit(Opcode.VMOVUPS, numbers, ofPanel(CODES, p, pair * 64));
            multiplyEither(p, pair, numbers);
        }
    }

    private void floats(int p, Opcode load, int bytes) {
        for (int k = 0; k < 32; k++) {
            Vector numbers = step(k % 4);
            code.emit(load, numbers, ofPanel(CODES, p, k * bytes));
            multiplyOne(p, k, numbers);
        }
    }

    private void multiplyEither(int p, int pair, Vector numbers) {
        if (compute == Compute.BF16) {
            multiplyPair(p, pair, numbers);
            return;
        }
        Vector even = step(4);
        code.shift(Opcode.VPSLLD, even, numbers, 16);
        multiplyOne(p, 2 * pair, even);
        upper(even, numbers);
        multiplyOne(p, 2 * pair + 1, even);
    }

    /** Clears the lower halves of all lanes. */
    private void upper(Vector target, Vector source) {
        if (panel == Panel.SIX_BITS) { // has another mask
            code.shift(Opcode.VPSRLD, target, source, 16);
            code.shift(Opcode.VPSLLD, target, target, 16);
        } else {
            code.emit(Opcode.VPANDD, target, source, MASK);
        }
    }

    private void multiply(int p, int pair, Vector even, Vector odd) {
        multiplyOne(p, 2 * pair, even);
        multiplyOne(p, 2 * pair + 1, odd);
    }

    private void multiplyPair(int p, int pair, Vector numbers) {
        for (int r = 0; r < rows; r++) {
            code.emit(Opcode.VDPBF16PS, blockSum(p * rows + r), numbers, number(r, pair * 4));
        }
    }

    private void multiplyOne(int p, int k, Vector numbers) {
        for (int r = 0; r < rows; r++) {
            code.emit(Opcode.VFMADD231PS, blockSum(p * rows + r), numbers, number(r, k * 4));
        }
    }

    /** Subtracts the minima, times the sums of x in their blocks, which lie behind a row's numbers. */
    private void minima() {
        points(Arguments.SUMS_AT);
        code.load(SCALES, argument(Arguments.WEIGHTS));
        code.load(OTHER, argument(Arguments.MINIMA_AT));
        code.add(SCALES, OTHER);
        code.load(UNITS_LEFT, argument(Arguments.UNITS));
        Label next = code.here();
        code.address(OTHER, at(SCALES, 0));
        int blocks = panel.unit / panel.block;
        for (int b = 0; b < blocks; b++) {
            for (int p = 0; p < panels; p++) {
                scaled(step(0), Opcode.VPMOVZXBD, ofPanel(SCALES, p, 32 + b * LANES), ofPanel(OTHER, p, 0));
                for (int r = 0; r < rows; r++) {
                    code.emit(Opcode.VFNMADD231PS, sum(p * rows + r), step(0), number(r, b * 4));
                }
            }
        }
        code.add(SCALES, panel.minimumBytes);
        advanceRows(blocks * Float.BYTES);
        code.add(UNITS_LEFT, -1);
        code.jumpIfNotZero(next);
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
