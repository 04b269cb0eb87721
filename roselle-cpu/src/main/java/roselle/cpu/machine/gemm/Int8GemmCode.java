package roselle.cpu.machine.gemm;

import static roselle.cpu.machine.assembler.Operand.at;
import static roselle.cpu.machine.assembler.Operand.zmm;
import static roselle.cpu.machine.gemm.GemmFrame.step;

import roselle.cpu.machine.assembler.Assembler;
import roselle.cpu.machine.assembler.Opcode;
import roselle.cpu.machine.assembler.Operand.General;
import roselle.cpu.machine.assembler.Operand.Memory;
import roselle.cpu.machine.assembler.Operand.Vector;
import roselle.cpu.machine.panel.Panel;

/**
 * Writes what {@link GemmCode} writes, for activations that are bytes: AVX512_VNNI multiplies four of them at a time.
 *
 * <p>Formula: {@code out[r][n] = sum over blocks b of (scale[n][b] * s[r][b]) * (sum over k in b of code[n][k] * q[r][k])
 * - sum over b of minimum[n][b] * s[r][b] * (sum over k in b of q[r][k])}, sums of integers exact. The instruction wants one
 * factor unsigned: codes are moved to that, and a block's sum begins with what this adds too much. {@link Int8Gemm} is
 * the scalar twin.
 */
final class Int8GemmCode implements GemmFrame.Parts {
    private static final Vector TABLE = zmm(24);
    private static final Vector TABLE_2 = zmm(25);
    private static final Vector MASK = zmm(26);

    /** Pieces of a block of 32 numbers. */
    private static final int PIECES = 4;

    private final GemmFrame frame;
    private final Assembler code;
    private final Panel panel;
    private final int rows;

    private Int8GemmCode(GemmFrame frame, Panel panel) {
        this.frame = frame;
        code = frame.code();
        rows = frame.rows();
        this.panel = panel;
    }

    /** The code for so many rows and so many panels at a time. */
    static byte[] of(Panel panel, int rows, int panels) {
        var frame = new GemmFrame(panel, rows, panels);
        return frame.routine(new Int8GemmCode(frame, panel));
    }

    @Override
    public void constants(General address) {
        code.emit(Opcode.VMOVUPS, TABLE, at(address, Int8ConversionCode.OUTPUTS_TOGETHER));
        code.emit(Opcode.VMOVUPS, TABLE_2, at(address, Int8ConversionCode.CODES_TOGETHER));
        boolean hasBytes = panel.codes() == Panel.Codes.BYTES;
        int mask = hasBytes ? Int8ConversionCode.UPPER_BITS : Int8ConversionCode.LOWER_NIBBLES;
        code.emit(Opcode.VMOVUPS, MASK, at(address, mask));
    }

    /** Sets a block's sums to what codes that were moved will add too much, less than nothing. */
    @Override
    public void begin() {
        for (int i = 0; i < rows * frame.panels(); i++) {
            switch (panel.codes()) {
                case BYTES ->
                    code.emit(
                            Opcode.VBROADCASTSS,
                            frame.blockSum(i),
                            frame.place(i % rows, Int8ConversionCode.MINUS_128_SUMS));
                case NIBBLES ->
                    code.emit(
                            Opcode.VBROADCASTSS,
                            frame.blockSum(i),
                            frame.place(i % rows, Int8ConversionCode.MINUS_8_SUMS));
                case PLAIN_NIBBLES, SIX_BITS, BFLOAT16, SPLIT, FLOAT16, FLOAT32 -> frame.zero(frame.blockSum(i));
            }
        }
    }

    @Override
    public int pieces() {
        return PIECES;
    }

    @Override
    public void numbers(int p, int piece) {
        if (panel.codes() == Panel.Codes.BYTES) {
            bytes(p, 2 * piece);
            bytes(p, 2 * piece + 1);
        } else {
            nibbles(p, piece);
        }
    }

    @Override
    public void addBlock(int p, Vector scale) {
        for (int r = 0; r < rows; r++) {
            int i = p * rows + r;
            Vector both = step(1 + r % 4);
            code.emit(Opcode.VMULPS, both, scale, frame.number(r, Int8ConversionCode.SCALE));
            code.emit(Opcode.VCVTDQ2PS, frame.blockSum(i), frame.blockSum(i));
            frame.addTimes(i, both);
        }
    }

    @Override
    public int rowBytes() {
        return Int8ConversionCode.BLOCK_BYTES;
    }

    @Override
    public int sumsArgument() {
        return 0;
    }

    @Override
    public int sumStride() {
        return Int8ConversionCode.BLOCK_BYTES;
    }

    @Override
    public int sumAt() {
        return Int8ConversionCode.SCALED_SUM;
    }

    /** A line has sixteen outputs of one k after the other, four of them; they become four codes of each output. */
    private void bytes(int p, int four) {
        Vector codes = step(four % 4);
        code.emit(Opcode.VPERMD, codes, TABLE, frame.codes(p, four * 64));
        code.emit(Opcode.VPSHUFB, codes, codes, TABLE_2);
        code.emit(Opcode.VPXORD, codes, codes, MASK);
        multiply(p, four, codes);
    }

    private void nibbles(int p, int eight) {
        Vector lower = step(eight % 2 * 2);
        Vector upper = step(eight % 2 * 2 + 1);
        code.emit(Opcode.VMOVUPS, upper, frame.codes(p, eight * 64));
        code.emit(Opcode.VPANDD, lower, upper, MASK);
        code.shift(Opcode.VPSRLD, upper, upper, 4);
        code.emit(Opcode.VPANDD, upper, upper, MASK);
        multiply(p, 2 * eight, lower);
        multiply(p, 2 * eight + 1, upper);
    }

    private void multiply(int p, int four, Vector codes) {
        for (int r = 0; r < rows; r++) {
            Memory bytes = frame.number(r, Int8ConversionCode.BYTES + four * 4);
            code.emit(Opcode.VPDPBUSD, frame.blockSum(p * rows + r), codes, bytes);
        }
    }
}
