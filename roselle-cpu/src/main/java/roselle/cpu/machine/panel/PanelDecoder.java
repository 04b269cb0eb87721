package roselle.cpu.machine.panel;

import static roselle.cpu.machine.assembler.Operand.at;
import static roselle.cpu.machine.assembler.Operand.zmm;

import roselle.cpu.machine.assembler.Assembler;
import roselle.cpu.machine.assembler.Opcode;
import roselle.cpu.machine.assembler.Operand.General;
import roselle.cpu.machine.assembler.Operand.Vector;

/**
 * Writes what decodes a unit of a panel with scales, a pair of k at a time, into float32 numbers of sixteen outputs.
 *
 * <p>Formula: {@code w[n][k] = scale[n][b] * value[n][k] + (0 - minimum[n][b])}; the sum is fused, and zero is never negative.
 */
public final class PanelDecoder {
    /** What is written after each pair of k, and after each block of numbers that share a scale. */
    public interface Pairs {
        /** Uses {@link #EVEN} and {@link #ODD}, the {@code pair}th of its block; it may change both. */
        void pair(int pair);

        /** Follows the {@code block}th block of a unit. */
        void endBlock(int block);
    }

    public static final General CODES = General.RSI;
    public static final General SCALES = General.RDX;
    public static final General MINIMA = General.RCX;

    public static final Vector EVEN = zmm(0);
    public static final Vector ODD = zmm(1);

    /** A mask of the upper halves of numbers of 32 bits. */
    static final Vector UPPER = zmm(27);

    /** Indices that lay the words of a vector's halves in turn. */
    private static final Vector IN_TURN = zmm(28);

    private static final int LANES = 16;
    private static final int LINE = 64;
    private static final int PREFETCH_BYTES = 2048;

    private static final Vector[] PACKED = {zmm(2), zmm(3), zmm(4)};
    private static final Vector INDEX = zmm(5);
    private static final Vector NEXT = zmm(6);
    private static final Vector SCALE = zmm(16);
    private static final Vector UNIT_SCALE = zmm(17);
    private static final Vector LESS_MINIMUM = zmm(18);
    private static final Vector UNIT_MINIMUM = zmm(19);
    private static final Vector TABLE = zmm(24);
    private static final Vector TABLE_2 = zmm(25);
    private static final Vector SIX_BITS_MASK = zmm(26);
    private static final Vector ZERO = zmm(29);

    private final Assembler code;
    private final Panel panel;
    private final Pairs pairs;

    /** A writer for panels of a kind that has scales; it uses the registers 0 to 6, 16 to 19 and 24 to 29. */
    public PanelDecoder(Assembler code, Panel panel, Pairs pairs) {
        if (!panel.hasScales()) {
            throw new IllegalArgumentException(panel + " has no scales");
        }
        this.code = code;
        this.panel = panel;
        this.pairs = pairs;
    }

    /** Loads the {@link Constants} that a register points to. */
    public void constants(General from) {
        code.emit(Opcode.VMOVUPS, TABLE, at(from, 0));
        code.emit(Opcode.VMOVUPS, TABLE_2, at(from, Constants.TABLE_2));
        code.emit(Opcode.VMOVUPS, SIX_BITS_MASK, at(from, Constants.SIX_BITS_MASK));
        code.emit(Opcode.VMOVUPS, UPPER, at(from, Constants.UPPER_MASK));
        code.emit(Opcode.VMOVUPS, IN_TURN, at(from, Constants.IN_TURN));
        code.emit(Opcode.VPXORD, ZERO, ZERO, ZERO);
    }

    /** Rounds {@link #EVEN} and {@link #ODD} to bfloat16; {@code EVEN} has the pairs then. */
    public void round() {
        code.emit(Opcode.VCVTNE2PS2BF16, EVEN, ODD, EVEN);
        code.emit(Opcode.VPERMW, EVEN, IN_TURN, EVEN);
    }

    /** Decodes a unit, and moves on to the next. */
    public void unit() {
        if (panel.blocks() == 1) {
            code.emit(Opcode.VCVTPH2PS, SCALE, at(SCALES, 0));
            if (panel.hasMinima()) {
                code.emit(Opcode.VCVTPH2PS, UNIT_MINIMUM, at(MINIMA, 0));
                code.shift(Opcode.VPSLLD, LESS_MINIMUM, UPPER, 15); // signs
                code.emit(Opcode.VPXORD, LESS_MINIMUM, LESS_MINIMUM, UNIT_MINIMUM);
                code.emit(Opcode.VADDPS, LESS_MINIMUM, LESS_MINIMUM, ZERO);
            }
            block(0);
        } else {
            code.emit(Opcode.VCVTPH2PS, UNIT_SCALE, at(SCALES, 0));
            if (panel.hasMinima()) {
                code.emit(Opcode.VCVTPH2PS, UNIT_MINIMUM, at(MINIMA, 0));
            }
            for (int b = 0; b < panel.blocks(); b++) {
                factor(SCALE, panel.scaleFactor(), SCALES, b);
                code.emit(Opcode.VMULPS, SCALE, SCALE, UNIT_SCALE);
                if (panel.hasMinima()) {
                    factor(INDEX, Opcode.VPMOVZXBD, MINIMA, b);
                    code.emit(Opcode.VPXORD, LESS_MINIMUM, LESS_MINIMUM, LESS_MINIMUM);
                    code.emit(Opcode.VFNMADD231PS, LESS_MINIMUM, INDEX, UNIT_MINIMUM);
                }
                block(b);
            }
        }
        code.add(SCALES, panel.scaleBytes());
        code.add(MINIMA, panel.minimumBytes());
    }

    private void factor(Vector target, Opcode widen, General from, int block) {
        code.emit(widen, target, at(from, 2 * LANES + block * LANES));
        code.emit(Opcode.VCVTDQ2PS, target, target);
    }

    /** Numbers of k that share a scale. */
    private void block(int block) {
        int bytes = panel.blockBytes();
        for (int line = 0; line < bytes; line += LINE) {
            code.prefetch(at(CODES, PREFETCH_BYTES + line));
        }
        switch (panel.codes()) {
            case BYTES -> bytes();
            case NIBBLES, PLAIN_NIBBLES -> nibbles();
            case SIX_BITS -> sixBits();
            case BFLOAT16, SPLIT, FLOAT16, FLOAT32 -> throw new IllegalStateException("no scales");
        }
        code.add(CODES, bytes);
        pairs.endBlock(block);
    }

    private void bytes() {
        for (int pair = 0; pair < 16; pair++) {
            code.emit(Opcode.VPMOVSXBD, EVEN, at(CODES, pair * 32));
            code.emit(Opcode.VPMOVSXBD, ODD, at(CODES, pair * 32 + 16));
            code.emit(Opcode.VCVTDQ2PS, EVEN, EVEN);
            code.emit(Opcode.VCVTDQ2PS, ODD, ODD);
            scaled(pair);
        }
    }

    private void nibbles() {
        for (int group = 0; group < panel.block() / 8; group++) {
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
        for (int group = 0; group < panel.block() / 16; group++) {
            for (int i = 0; i < PACKED.length; i++) {
                code.emit(Opcode.VMOVUPS, PACKED[i], at(CODES, (group * PACKED.length + i) * LINE));
            }
            int first = group * 8;
            sixBits(first, PACKED[0], 0);
            sixBits(first + 1, PACKED[0], 6);
            join(first + 2, PACKED[0], 8);
            sixBits(first + 3, PACKED[1], 0);
            sixBits(first + 4, PACKED[1], 6);
            join(first + 5, PACKED[1], 10);
            sixBits(first + 6, PACKED[2], 0);
            sixBits(first + 7, PACKED[2], 6);
        }
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
    private void split(Vector pairsOfCodes, int pair) {
        code.shift(Opcode.VPSLLD, EVEN, pairsOfCodes, 16);
        code.emit(Opcode.VPANDD, ODD, pairsOfCodes, UPPER);
        scaled(pair);
    }

    private void scaled(int pair) {
        Vector more = panel.hasMinima() ? LESS_MINIMUM : ZERO;
        code.emit(Opcode.VFMADD213PS, EVEN, SCALE, more);
        code.emit(Opcode.VFMADD213PS, ODD, SCALE, more);
        pairs.pair(pair);
    }
}
