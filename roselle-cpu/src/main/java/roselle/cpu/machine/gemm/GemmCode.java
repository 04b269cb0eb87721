package roselle.cpu.machine.gemm;

import static roselle.cpu.machine.assembler.Operand.at;
import static roselle.cpu.machine.assembler.Operand.zmm;
import static roselle.cpu.machine.gemm.GemmFrame.step;

import roselle.cpu.machine.Compute;
import roselle.cpu.machine.assembler.Assembler;
import roselle.cpu.machine.assembler.Opcode;
import roselle.cpu.machine.assembler.Operand.General;
import roselle.cpu.machine.assembler.Operand.Vector;
import roselle.cpu.machine.panel.Constants;
import roselle.cpu.machine.panel.Panel;

/**
 * Writes the product of a few activation rows with panels of weights, in vectors of 512 bits.
 *
 * <p>Formula: {@code out[r][n] = sum over blocks b of scale[n][b] * (sum over k in b of value[n][k] * x[r][k])
 * - sum over b of minimum[n][b] * (sum over k in b of x[r][k])}. A lane is an output; a number of x is given to all lanes;
 * codes become numbers in registers and serve all rows at once. The order of a sum is that of k, whatever the number of rows
 * and panels: a row's bits depend on itself alone. {@link PanelGemm} is the scalar twin.
 */
public final class GemmCode implements GemmFrame.Parts {
    private static final Vector TABLE = zmm(24);
    private static final Vector TABLE_2 = zmm(25);
    private static final Vector MASK = zmm(26);

    /** Pairs of a piece of a block. */
    private static final int PAIRS = 4;

    /** The same of six bits. */
    private static final int ALL_PAIRS = 8;

    private final GemmFrame frame;
    private final Assembler code;
    private final Panel panel;
    private final Compute compute;
    private final int rows;

    private GemmCode(GemmFrame frame, Panel panel, Compute compute) {
        this.frame = frame;
        code = frame.code();
        rows = frame.rows();
        this.panel = panel;
        this.compute = compute;
    }

    /** The code for so many rows and so many panels at a time. */
    static byte[] of(Panel panel, Compute compute, int rows, int panels) {
        var frame = new GemmFrame(panel, rows, panels);
        return frame.routine(new GemmCode(frame, panel, compute));
    }

    @Override
    public void constants(General address) {
        code.emit(Opcode.VMOVUPS, TABLE, at(address, 0));
        code.emit(Opcode.VMOVUPS, TABLE_2, at(address, Constants.TABLE_2));
        code.emit(Opcode.VMOVUPS, MASK, at(address, maskAt()));
    }

    private int maskAt() {
        return switch (panel.codes()) {
            case SIX_BITS -> Constants.SIX_BITS_MASK;
            case BYTES, NIBBLES, PLAIN_NIBBLES, BFLOAT16, SPLIT, FLOAT16, FLOAT32 -> Constants.UPPER_MASK;
        };
    }

    @Override
    public void begin() {
        if (panel.hasScales()) {
            for (int i = 0; i < rows * frame.panels(); i++) {
                frame.zero(frame.blockSum(i));
            }
        }
    }

    @Override
    public int pieces() {
        return panel.block() / (panel.codes() == Panel.Codes.SIX_BITS ? 2 * ALL_PAIRS : 2 * PAIRS);
    }

    @Override
    public void numbers(int p, int piece) {
        switch (panel.codes()) {
            case BYTES -> bytes(p, piece);
            case NIBBLES, PLAIN_NIBBLES -> nibbles(p, piece);
            case SIX_BITS -> sixBits(p, piece);
            case BFLOAT16 -> bfloat16(p, piece);
            case SPLIT -> throw new IllegalStateException("tiles alone multiply split numbers");
            case FLOAT16 -> floats(p, piece, Opcode.VCVTPH2PS, 32);
            case FLOAT32 -> floats(p, piece, Opcode.VMOVUPS, 64);
        }
    }

    @Override
    public void addBlock(int p, Vector scale) {
        for (int r = 0; r < rows; r++) {
            frame.addTimes(p * rows + r, scale);
        }
    }

    @Override
    public int rowBytes() {
        return panel.block() * compute.bytes();
    }

    @Override
    public int sumsArgument() {
        return Arguments.SUMS_AT;
    }

    @Override
    public int sumStride() {
        return Float.BYTES;
    }

    @Override
    public int sumAt() {
        return 0;
    }

    private void bytes(int p, int piece) {
        for (int pair = piece * PAIRS; pair < (piece + 1) * PAIRS; pair++) {
            Vector even = step(pair % 2 * 2);
            Vector odd = step(pair % 2 * 2 + 1);
            code.emit(Opcode.VPMOVSXBD, even, frame.codes(p, pair * 32));
            code.emit(Opcode.VPMOVSXBD, odd, frame.codes(p, pair * 32 + 16));
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

    private void nibbles(int p, int piece) {
        Vector packed = step(piece % 2);
        code.emit(Opcode.VMOVUPS, packed, frame.codes(p, piece * 64));
        for (int i = 0; i < PAIRS; i++) {
            Vector index = packed;
            Vector pair = step(2 + i % 2);
            if (i > 0) {
                code.shift(Opcode.VPSRLW, pair, packed, 4 * i);
                index = pair;
            }
            code.emit(Opcode.VPERMW, pair, index, TABLE);
            multiplyEither(p, piece * PAIRS + i, pair);
        }
    }

    private void sixBits(int p, int piece) {
        int at = piece * 3 * 64;
        int first = piece * ALL_PAIRS;
        Vector a = step(0);
        Vector b = step(1);
        Vector c = step(2);
        Vector next = step(3);
        code.emit(Opcode.VMOVUPS, a, frame.codes(p, at));
        code.emit(Opcode.VMOVUPS, b, frame.codes(p, at + 64));
        code.emit(Opcode.VMOVUPS, c, frame.codes(p, at + 128));
        sixBits(p, first, a, 0);
        sixBits(p, first + 1, a, 6);
        code.shift(Opcode.VPSRLW, a, a, 12);
        code.shift(Opcode.VPSRLW, next, c, 8);
        code.emit(Opcode.VPTERNLOGD, a, next, MASK, Constants.FIRST_OR_SECOND_AND_THIRD);
        sixBits(p, first + 2, a, 0);
        sixBits(p, first + 3, b, 0);
        sixBits(p, first + 4, b, 6);
        code.shift(Opcode.VPSRLW, b, b, 12);
        code.shift(Opcode.VPSRLW, next, c, 10);
        code.emit(Opcode.VPTERNLOGD, b, next, MASK, Constants.FIRST_OR_SECOND_AND_THIRD);
        sixBits(p, first + 5, b, 0);
        sixBits(p, first + 6, c, 0);
        sixBits(p, first + 7, c, 6);
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

    private void bfloat16(int p, int piece) {
        for (int pair = piece * PAIRS; pair < (piece + 1) * PAIRS; pair++) {
            Vector numbers = step(pair % 4);
            code.emit(Opcode.VMOVUPS, numbers, frame.codes(p, pair * 64));
            multiplyEither(p, pair, numbers);
        }
    }

    private void floats(int p, int piece, Opcode load, int bytes) {
        for (int k = 2 * piece * PAIRS; k < 2 * (piece + 1) * PAIRS; k++) {
            Vector numbers = step(k % 4);
            code.emit(load, numbers, frame.codes(p, k * bytes));
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
        if (panel.codes() == Panel.Codes.SIX_BITS) { // has another mask
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
            code.emit(Opcode.VDPBF16PS, frame.blockSum(p * rows + r), numbers, frame.number(r, pair * 4));
        }
    }

    private void multiplyOne(int p, int k, Vector numbers) {
        for (int r = 0; r < rows; r++) {
            code.emit(Opcode.VFMADD231PS, frame.blockSum(p * rows + r), numbers, frame.number(r, k * 4));
        }
    }
}
