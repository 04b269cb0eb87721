package roselle.cpu.machine;

import static roselle.cpu.machine.Operand.at;
import static roselle.cpu.machine.Operand.zmm;

import roselle.cpu.machine.Assembler.Label;
import roselle.cpu.machine.Operand.General;
import roselle.cpu.machine.Operand.Memory;
import roselle.cpu.machine.Operand.Vector;

/**
 * Writes what {@link ProductCode} writes, for activations that are bytes: AVX512_VNNI multiplies four of them at a time.
 *
 * <p>Formula: {@code out[r][n] = sum over blocks b of (scale[n][b] * s[r][b]) * (sum over k in b of code[n][k] * q[r][k])
 * - sum over b of minimum[n][b] * s[r][b] * (sum over k in b of q[r][k])}, sums of integers exact. The instruction wants one
 * factor unsigned: codes are moved to that, and a block's sum begins with what this adds too much. {@link Int8Product} is
 * the scalar twin.
 *
 * <p>Registers: 0 to 11 sums of rows and panels, 12 to 23 their integers in the current block, 24 to 26 constants, 27 to 31
 * what a step needs.
 */
final class Int8ProductCode {
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
    private final int rows;
    private final int panels;

    private Int8ProductCode(Panel panel, int rows, int panels) {
        this.panel = panel;
        this.rows = rows;
        this.panels = panels;
    }

    /** The code for so many rows and so many panels at a time. */
    static byte[] of(Panel panel, int rows, int panels) {
        if (rows < 1 || panels < 1 || rows * panels > MOST || panels > 4) {
            throw new IllegalArgumentException(rows + " rows of " + panels + " panels");
        }
        var writer = new Int8ProductCode(panel, rows, panels);
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
        code.emit(Opcode.VMOVUPS, TABLE, at(OTHER, Int8ConversionCode.OUTPUTS_TOGETHER));
        code.emit(Opcode.VMOVUPS, TABLE_2, at(OTHER, Int8ConversionCode.CODES_TOGETHER));
        boolean hasBytes = panel == Panel.BYTE;
        int mask = hasBytes ? Int8ConversionCode.UPPER_BITS : Int8ConversionCode.LOWER_NIBBLES;
        code.emit(Opcode.VMOVUPS, MASK, at(OTHER, mask));
    }

    /** Some panels side by side, for all of k. */
    private void group() {
        points();
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

    /** Lets the rows' registers point to the rows. */
    private void points() {
        code.load(ROWS[0], argument(Arguments.INPUT));
        code.address(OTHER, at(STRIDE, STRIDE, 2, 0));
        for (int i = 1; i * 3 < rows; i++) {
            code.move(ROWS[i], ROWS[i - 1]);
            code.add(ROWS[i], OTHER);
        }
    }

    private static Memory place(int row, int bytes) {
        General base = ROWS[row / 3];
        return row % 3 == 0 ? at(base, bytes) : at(base, STRIDE, row % 3, bytes);
    }

    /** A number of a row, given to all lanes. */
    private static Memory number(int row, int bytes) {
        return place(row, bytes).toAllLanes();
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

    private static Vector blockSum(int index) {
        return zmm(MOST + index);
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
        begin();
        for (int p = 0; p < panels; p++) {
            if (panel == Panel.BYTE) {
                bytes(p);
            } else {
                nibbles(p);
            }
        }
        for (int p = 0; p < panels; p++) {
            Vector scale = step(0);
            if (blocks == 0) {
                code.emit(Opcode.VCVTPH2PS, scale, ofPanel(SCALES, p, 0));
            } else {
                scaled(scale, Opcode.VPMOVZXBD, ofPanel(SCALES, p, 0), ofPanel(OTHER, p, 0));
            }
            for (int r = 0; r < rows; r++) {
                int i = p * rows + r;
                Vector both = step(1 + r % 4);
                code.emit(Opcode.VMULPS, both, scale, number(r, Int8ConversionCode.SCALE));
                code.emit(Opcode.VCVTDQ2PS, blockSum(i), blockSum(i));
                code.emit(Opcode.VFMADD231PS, sum(i), blockSum(i), both);
            }
        }
        code.add(CODES, bytes);
        advanceRows(Int8ConversionCode.BLOCK_BYTES);
    }

    /** Sets a block's sums to what codes that were moved will add too much, less than nothing. */
    private void begin() {
        for (int i = 0; i < rows * panels; i++) {
            switch (panel) {
                case BYTE ->
                    code.emit(Opcode.VBROADCASTSS, blockSum(i), place(i % rows, Int8ConversionCode.MINUS_128_SUMS));
                case NIBBLE ->
                    code.emit(Opcode.VBROADCASTSS, blockSum(i), place(i % rows, Int8ConversionCode.MINUS_8_SUMS));
                default -> zero(blockSum(i));
            }
        }
    }

    private void scaled(Vector target, Opcode widen, Memory factors, Memory unitScale) {
        code.emit(widen, target, factors);
        code.emit(Opcode.VCVTDQ2PS, target, target);
        code.emit(Opcode.VCVTPH2PS, step(1), unitScale);
        code.emit(Opcode.VMULPS, target, target, step(1));
    }

    /** A line has sixteen outputs of one k after the other, four of them; they become four codes of each output. */
    private void bytes(int p) {
        for (int four = 0; four < 8; four++) {
            Vector codes = step(four % 4);
            code.emit(Opcode.VPERMD, codes, TABLE, ofPanel(CODES, p, four * 64));
            code.emit(Opcode.VPSHUFB, codes, codes, TABLE_2);
            code.emit(Opcode.VPXORD, codes, codes, MASK);
            multiply(p, four, codes);
        }
    }

    private void nibbles(int p) {
        for (int eight = 0; eight < 4; eight++) {
            Vector lower = step(eight % 2 * 2);
            Vector upper = step(eight % 2 * 2 + 1);
            code.emit(Opcode.VMOVUPS, upper, ofPanel(CODES, p, eight * 64));
            code.emit(Opcode.VPANDD, lower, upper, MASK);
            code.shift(Opcode.VPSRLD, upper, upper, 4);
            code.emit(Opcode.VPANDD, upper, upper, MASK);
            multiply(p, 2 * eight, lower);
            multiply(p, 2 * eight + 1, upper);
        }
    }

    private void multiply(int p, int four, Vector codes) {
        for (int r = 0; r < rows; r++) {
            Memory bytes = number(r, Int8ConversionCode.BYTES + four * 4);
            code.emit(Opcode.VPDPBUSD, blockSum(p * rows + r), codes, bytes);
        }
    }

    /** Subtracts the minima, times the sums of x in their blocks, which lie in the blocks of a row. */
    private void minima() {
        points();
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
                    code.emit(
                            Opcode.VFNMADD231PS,
                            sum(p * rows + r),
                            step(0),
                            number(r, b * Int8ConversionCode.BLOCK_BYTES + Int8ConversionCode.SCALED_SUM));
                }
            }
        }
        code.add(SCALES, panel.minimumBytes);
        advanceRows(blocks * Int8ConversionCode.BLOCK_BYTES);
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
