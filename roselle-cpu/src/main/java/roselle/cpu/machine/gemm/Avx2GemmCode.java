package roselle.cpu.machine.gemm;

import static roselle.cpu.machine.gemm.Avx2Frame.HALF_BYTES;
import static roselle.cpu.machine.gemm.Avx2Frame.HALVES;
import static roselle.cpu.machine.gemm.Avx2Frame.NUMBER;
import static roselle.cpu.machine.gemm.Avx2Frame.STEP;

import roselle.cpu.machine.assembler.Assembler;
import roselle.cpu.machine.assembler.Opcode;
import roselle.cpu.machine.assembler.Operand.Memory;
import roselle.cpu.machine.assembler.Operand.Vector;
import roselle.cpu.machine.panel.Constants;
import roselle.cpu.machine.panel.Panel;

/** Writes what {@link GemmCode} writes for float32, with AVX2 and FMA alone: the same formula, arguments, order and bits. */
final class Avx2GemmCode implements Avx2Frame.Parts {
    private static final int HALF_LANES = 8;

    private final Avx2Frame frame;
    private final Assembler code;
    private final Panel panel;
    private final int rows;

    private Avx2GemmCode(Avx2Frame frame, Panel panel) {
        this.frame = frame;
        code = frame.code();
        rows = frame.rows();
        this.panel = panel;
    }

    /** The code for so many rows and so many panels at a time. */
    static byte[] of(Panel panel, int rows, int panels) {
        var frame = new Avx2Frame(panel, rows, panels);
        return frame.routine(new Avx2GemmCode(frame, panel));
    }

    @Override
    public void numbers(int p) {
        for (int k = 0; k < panel.block(); k++) {
            weights(p, k);
            for (int r = 0; r < rows; r++) {
                frame.number(r, k * Float.BYTES);
                for (int half = 0; half < 2; half++) {
                    code.emit(Opcode.VFMADD231PS, frame.sum(p, r, half), HALVES[half], NUMBER);
                }
            }
        }
    }

    @Override
    public void addBlock(int p) {
        for (int half = 0; half < 2; half++) {
            for (int r = 0; r < rows; r++) {
                Memory output = Avx2Frame.output(r, p, half);
                code.emit(Opcode.VMOVUPS, STEP, output);
                code.emit(Opcode.VFMADD231PS, STEP, frame.sum(p, r, half), HALVES[half]);
                code.emit(Opcode.VMOVUPS_STORE, output, STEP);
            }
        }
    }

    @Override
    public int rowBytes() {
        return panel.block() * Float.BYTES;
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

    /** Brings a panel's numbers of one k to registers. */
    private void weights(int p, int k) {
        for (int half = 0; half < 2; half++) {
            Vector target = HALVES[half];
            int lanes = half * HALF_BYTES;
            switch (panel.codes()) {
                case BYTES -> {
                    int at = k * Panel.OUTPUTS + half * HALF_LANES;
                    code.emit(Opcode.VPMOVSXBD, target, frame.codes(p, at));
                    code.emit(Opcode.VCVTDQ2PS, target, target);
                }
                case NIBBLES, PLAIN_NIBBLES -> nibbles(target, p, k, lanes);
                case SIX_BITS -> sixBits(target, p, k, lanes);
                case SPLIT -> throw new IllegalStateException("tiles alone multiply split numbers");
                case BFLOAT16 -> {
                    Memory pair = frame.codes(p, k / 2 * 64 + lanes);
                    code.emit(Opcode.VMOVUPS, target, pair);
                    if (k % 2 == 0) {
                        code.shift(Opcode.VPSLLD, target, target, 16);
                    } else {
                        code.emit(Opcode.VPANDD, target, target, frame.constant(Constants.UPPER_MASK));
                    }
                }
                case FLOAT16 -> code.emit(Opcode.VCVTPH2PS, target, frame.codes(p, k * 32 + lanes / 2));
                case FLOAT32 -> code.emit(Opcode.VMOVUPS, target, frame.codes(p, k * 64 + lanes));
            }
        }
    }

    /** A table has what a code is more than the smallest, so that code 0, which is all else, stays 0. */
    private void nibbles(Vector target, int p, int k, int lanes) {
        code.emit(Opcode.VMOVUPS, target, frame.codes(p, k / 8 * 64 + lanes));
        int shift = k % 8 / 2 * 4 + k % 2 * 16;
        if (shift > 0) {
            code.shift(Opcode.VPSRLD, target, target, shift);
        }
        if (shift < 28) {
            code.emit(Opcode.VPANDD, target, target, frame.constant(Constants.FOUR_BITS));
        }
        if (panel.codes() == Panel.Codes.NIBBLES) {
            code.emit(Opcode.VMOVUPS, STEP, frame.constant(Constants.BYTES));
            code.emit(Opcode.VPSHUFB, target, STEP, target);
        }
        code.emit(Opcode.VCVTDQ2PS, target, target);
        if (panel.codes() == Panel.Codes.NIBBLES) {
            code.emit(Opcode.VADDPS, target, target, frame.constant(Constants.SMALLEST));
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
        code.emit(Opcode.VMOVUPS, target, frame.codes(p, words + word * 64 + lanes));
        if (shift > 0) {
            code.shift(Opcode.VPSRLD, target, target, shift);
        }
        boolean isSplit = word < 2 && pair % 3 == 2;
        code.emit(Opcode.VPANDD, target, target, frame.constant(isSplit ? Constants.FOUR_BITS : Constants.SIX_BITS));
        if (isSplit) {
            code.emit(Opcode.VMOVUPS, STEP, frame.codes(p, words + 2 * 64 + lanes));
            code.shift(Opcode.VPSRLD, STEP, STEP, (word == 0 ? 8 : 10) + k % 2 * 16);
            code.emit(Opcode.VPANDD, STEP, STEP, frame.constant(Constants.UPPER_TWO_OF_SIX_BITS));
            code.emit(Opcode.VPORD, target, target, STEP);
        }
        code.emit(Opcode.VCVTDQ2PS, target, target);
        code.emit(Opcode.VADDPS, target, target, frame.constant(Constants.SMALLEST));
    }
}
