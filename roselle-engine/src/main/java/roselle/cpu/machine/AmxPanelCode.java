package roselle.cpu.machine;

import static roselle.cpu.machine.Operand.at;
import static roselle.cpu.machine.Operand.zmm;

import roselle.cpu.machine.Assembler.Label;
import roselle.cpu.machine.Operand.General;
import roselle.cpu.machine.Operand.Vector;

/**
 * Writes what makes panels of bfloat16, as tiles read them, of panels with scales.
 *
 * <p>Formula: {@code w[n][k] = bfloat16(scale[n][b] * value[n][k] - minimum[n][b])}, rounded once more to float32 before; the
 * difference is fused. A tile sums 32 products before anyone could scale them, so that the scale has to be in the weight.
 * The target is {@link Panel#BFLOAT16}, of so many units of k from those that the source begins with.
 */
final class AmxPanelCode {
    /** The addresses of the codes, scales and minima of a panel's first unit; the code leaves those of the next panel. */
    static final int CODES_FROM = 0;

    static final int SCALES_FROM = 8;
    static final int MINIMA_FROM = 16;

    /** The address of the first panel to write; the code leaves that of the panel after its last. */
    static final int TARGET = 24;

    static final int UNITS = 32;
    static final int PANELS = 40;

    /** Bytes from a panel to the next. */
    static final int PANEL_BYTES = 48;

    static final int TARGET_PANEL_BYTES = 56;

    /** The address of {@link Constants}. */
    static final int CONSTANTS = 64;

    static final int SIZE = 72;

    private static final int LANES = 16;
    private static final int LINE = 64;
    private static final int PREFETCH_BYTES = 2048;

    private static final General ARGUMENTS = General.RDI;
    private static final General CODES = General.RSI;
    private static final General SCALES = General.RDX;
    private static final General MINIMA = General.RCX;
    private static final General TO = General.R8;
    private static final General UNITS_LEFT = General.R9;
    private static final General PANELS_LEFT = General.R10;
    private static final General OTHER = General.R11;

    private static final Vector EVEN = zmm(0);
    private static final Vector ODD = zmm(1);
    private static final Vector[] PACKED = {zmm(2), zmm(3), zmm(4)};
    private static final Vector INDEX = zmm(5);
    private static final Vector NEXT = zmm(6);
    private static final Vector SCALE = zmm(16);
    private static final Vector UNIT_SCALE = zmm(17);
    private static final Vector MINIMUM = zmm(18);
    private static final Vector UNIT_MINIMUM = zmm(19);
    private static final Vector TABLE = zmm(24);
    private static final Vector TABLE_2 = zmm(25);
    private static final Vector SIX_BITS_MASK = zmm(26);
    private static final Vector UPPER = zmm(27);
    private static final Vector IN_TURN = zmm(28);

    private final Assembler code = new Assembler();
    private final Panel panel;

    private AmxPanelCode(Panel panel) {
        this.panel = panel;
    }

    /** The code for panels of a kind that has scales. */
    static byte[] of(Panel panel) {
        if (!panel.hasScales()) {
            throw new IllegalArgumentException(panel + " has no scales");
        }
        var writer = new AmxPanelCode(panel);
        writer.routine();
        return writer.code.bytes();
    }

    private void routine() {
        code.load(OTHER, at(ARGUMENTS, CONSTANTS));
        code.emit(Opcode.VMOVUPS, TABLE, at(OTHER, 0));
        code.emit(Opcode.VMOVUPS, TABLE_2, at(OTHER, Constants.TABLE_2));
        code.emit(Opcode.VMOVUPS, SIX_BITS_MASK, at(OTHER, Constants.SIX_BITS_MASK));
        code.emit(Opcode.VMOVUPS, UPPER, at(OTHER, Constants.UPPER_MASK));
        code.emit(Opcode.VMOVUPS, IN_TURN, at(OTHER, Constants.IN_TURN));
        code.load(PANELS_LEFT, at(ARGUMENTS, PANELS));
        Label next = code.here();
        code.load(CODES, at(ARGUMENTS, CODES_FROM));
        code.load(SCALES, at(ARGUMENTS, SCALES_FROM));
        code.load(MINIMA, at(ARGUMENTS, MINIMA_FROM));
        code.load(TO, at(ARGUMENTS, TARGET));
        code.load(UNITS_LEFT, at(ARGUMENTS, UNITS));
        Label nextUnit = code.here();
        unit();
        code.add(UNITS_LEFT, -1);
        code.jumpIfNotZero(nextUnit);
        code.load(OTHER, at(ARGUMENTS, PANEL_BYTES));
        advance(CODES_FROM);
        advance(SCALES_FROM);
        advance(MINIMA_FROM);
        code.load(OTHER, at(ARGUMENTS, TARGET_PANEL_BYTES));
        advance(TARGET);
        code.add(PANELS_LEFT, -1);
        code.jumpIfNotZero(next);
        code.ret();
    }

    private void advance(int argument) {
        code.load(TO, at(ARGUMENTS, argument));
        code.add(TO, OTHER);
        code.store(at(ARGUMENTS, argument), TO);
    }

    private void unit() {
        int blocks = panel.unit / panel.block;
        if (blocks == 1) {
            code.emit(Opcode.VCVTPH2PS, SCALE, at(SCALES, 0));
            block();
        } else {
            code.emit(Opcode.VCVTPH2PS, UNIT_SCALE, at(SCALES, 0));
            if (panel.hasMinima()) {
                code.emit(Opcode.VCVTPH2PS, UNIT_MINIMUM, at(MINIMA, 0));
            }
            Opcode widen = panel == Panel.SIX_BITS ? Opcode.VPMOVSXBD : Opcode.VPMOVZXBD;
            for (int b = 0; b < blocks; b++) {
                factor(SCALE, widen, SCALES, b, UNIT_SCALE);
                if (panel.hasMinima()) {
                    factor(MINIMUM, Opcode.VPMOVZXBD, MINIMA, b, UNIT_MINIMUM);
                }
                block();
            }
        }
        code.add(SCALES, panel.scaleBytes);
        code.add(MINIMA, panel.minimumBytes);
    }

    private void factor(Vector target, Opcode widen, General from, int block, Vector ofUnit) {
        code.emit(widen, target, at(from, 2 * LANES + block * LANES));
        code.emit(Opcode.VCVTDQ2PS, target, target);
        code.emit(Opcode.VMULPS, target, target, ofUnit);
    }

    /** Numbers of k that share a scale. */
    private void block() {
        int bytes = panel.codeBytes / (panel.unit / panel.block);
        for (int line = 0; line < bytes; line += LINE) {
            code.prefetch(at(CODES, PREFETCH_BYTES + line));
        }
        switch (panel) {
            case BYTE -> bytes();
            case NIBBLE, NIBBLE_WITH_MINIMUM -> nibbles();
            case SIX_BITS -> sixBits();
            case BFLOAT16, FLOAT16, FLOAT32 -> throw new IllegalStateException("no scales");
        }
        code.add(CODES, bytes);
        code.add(TO, panel.block / 2 * LINE);
    }

    private void bytes() {
        for (int pair = 0; pair < 16; pair++) {
            code.emit(Opcode.VPMOVSXBD, EVEN, at(CODES, pair * 32));
            code.emit(Opcode.VPMOVSXBD, ODD, at(CODES, pair * 32 + 16));
            code.emit(Opcode.VCVTDQ2PS, EVEN, EVEN);
            code.emit(Opcode.VCVTDQ2PS, ODD, ODD);
            store(pair);
        }
    }

    private void nibbles() {
        for (int group = 0; group < 4; group++) {
            code.emit(Opcode.VMOVUPS, PACKED[0], at(CODES, group * LINE));
            for (int i = 0; i < 4; i++) {
                Vector index = PACKED[0];
                if (i > 0) {
                    code.shift(Opcode.VPSRLW, INDEX, PACKED[0], 4 * i);
                    index = INDEX;
                }
                code.emit(Opcode.VPERMW, NEXT, index, TABLE);
                split(NEXT, group * 4 + i);
            }
        }
    }

    private void sixBits() {
        for (int i = 0; i < PACKED.length; i++) {
            code.emit(Opcode.VMOVUPS, PACKED[i], at(CODES, i * LINE));
        }
        sixBits(0, PACKED[0], 0);
        sixBits(1, PACKED[0], 6);
        join(2, PACKED[0], 8);
        sixBits(3, PACKED[1], 0);
        sixBits(4, PACKED[1], 6);
        join(5, PACKED[1], 10);
        sixBits(6, PACKED[2], 0);
        sixBits(7, PACKED[2], 6);
    }

    private void sixBits(int pair, Vector packed, int shift) {
        code.shift(Opcode.VPSRLW, INDEX, packed, shift);
        code.emit(Opcode.VPERMI2W, INDEX, TABLE, TABLE_2);
        split(INDEX, pair);
    }

    /** A code of which four bits are at the top of a word and two in the third word. */
    private void join(int pair, Vector packed, int shift) {
        code.shift(Opcode.VPSRLW, packed, packed, 12);
        code.shift(Opcode.VPSRLW, NEXT, PACKED[2], shift);
        code.emit(Opcode.VPTERNLOGD, packed, NEXT, SIX_BITS_MASK, Constants.FIRST_OR_SECOND_AND_THIRD);
        sixBits(pair, packed, 0);
    }

    /** Pairs of bfloat16 become numbers of float32. */
    private void split(Vector pairs, int pair) {
        code.shift(Opcode.VPSLLD, EVEN, pairs, 16);
        code.emit(Opcode.VPANDD, ODD, pairs, UPPER);
        store(pair);
    }

    /** Scales numbers, and stores them as pairs of bfloat16. */
    private void store(int pair) {
        if (panel.hasMinima()) {
            code.emit(Opcode.VFMSUB213PS, EVEN, SCALE, MINIMUM);
            code.emit(Opcode.VFMSUB213PS, ODD, SCALE, MINIMUM);
        } else {
            code.emit(Opcode.VMULPS, EVEN, EVEN, SCALE);
            code.emit(Opcode.VMULPS, ODD, ODD, SCALE);
        }
        code.emit(Opcode.VCVTNE2PS2BF16, EVEN, ODD, EVEN);
        code.emit(Opcode.VPERMW, EVEN, IN_TURN, EVEN);
        code.emit(Opcode.VMOVUPS_STORE, at(TO, pair * LINE), EVEN);
    }
}
