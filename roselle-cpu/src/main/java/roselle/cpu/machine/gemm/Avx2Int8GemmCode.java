package roselle.cpu.machine.gemm;

import static roselle.cpu.machine.gemm.Avx2Frame.HALF_BYTES;
import static roselle.cpu.machine.gemm.Avx2Frame.HALVES;
import static roselle.cpu.machine.gemm.Avx2Frame.NUMBER;
import static roselle.cpu.machine.gemm.Avx2Frame.STEP;

import roselle.cpu.machine.assembler.Assembler;
import roselle.cpu.machine.assembler.Opcode;
import roselle.cpu.machine.assembler.Operand.Memory;
import roselle.cpu.machine.assembler.Operand.Vector;
import roselle.cpu.machine.panel.Panel;

/**
 * Writes what {@link Int8GemmCode} writes, with AVX2 and FMA alone: the same formula, arguments and bits, whose sums of
 * integers are exact in any order.
 *
 * <p>The instruction adds two products of an unsigned and a signed byte into 16 bits. Of codes of four bits a block's 32
 * products fit there: a lane has 16 of them, at most 16 * 15 * 127 = 30,480. Codes of a byte are taken without their signs,
 * which go to the activations, so that two products are at most 2 * 128 * 127 = 32,512; each two become 32 bits at once.
 */
final class Avx2Int8GemmCode implements Avx2Frame.Parts {
    /** Groups of four numbers of k in a block. */
    private static final int FOURS = 8;

    private final Avx2Frame frame;
    private final Assembler code;
    private final Panel panel;
    private final int rows;

    private Avx2Int8GemmCode(Avx2Frame frame, Panel panel) {
        this.frame = frame;
        code = frame.code();
        rows = frame.rows();
        this.panel = panel;
    }

    /** The code for so many rows and so many panels at a time. */
    static byte[] of(Panel panel, int rows, int panels) {
        var frame = new Avx2Frame(panel, rows, panels);
        return frame.routine(new Avx2Int8GemmCode(frame, panel));
    }

    @Override
    public void numbers(int p) {
        for (int four = 0; four < FOURS; four++) {
            if (panel.codes() == Panel.Codes.BYTES) {
                bytes(p, four, 0, Opcode.VPUNPCKLQDQ);
                bytes(p, four, 1, Opcode.VPUNPCKHQDQ);
            } else {
                nibbles(p, four);
            }
        }
    }

    @Override
    public void addBlock(int p) {
        for (int r = 0; r < rows; r++) {
            if (panel.hasNibbles()) {
                together(p, r);
            }
            frame.number(r, Int8ConversionCode.SCALE);
            for (int half = 0; half < 2; half++) {
                Vector sum = frame.sum(p, r, half);
                Memory output = Avx2Frame.output(r, p, half);
                code.emit(Opcode.VCVTDQ2PS, sum, sum);
                code.emit(Opcode.VMULPS, STEP, HALVES[half], NUMBER);
                code.emit(Opcode.VFMADD213PS, sum, STEP, output);
                code.emit(Opcode.VMOVUPS_STORE, output, sum);
            }
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

    /** Adds the two 16-bit sums of each output, and what codes that were moved by 8 added too much. */
    private void together(int p, int row) {
        boolean isMoved = panel.codes() == Panel.Codes.NIBBLES;
        if (isMoved) {
            frame.number(row, Int8ConversionCode.MINUS_8_SUMS);
        }
        for (int half = 0; half < 2; half++) {
            Vector sum = frame.sum(p, row, half);
            code.emit(Opcode.VPMADDWD, sum, sum, frame.constant(Int8ConversionCode.ONES));
            if (isMoved) {
                code.emit(Opcode.VPADDD, sum, sum, NUMBER);
            }
        }
    }

    /** A line has sixteen outputs of one k after the other, four of them; half of them become four codes of each output. */
    private void bytes(int p, int four, int half, Opcode unpack) {
        Vector codes = HALVES[0];
        Vector unsigned = HALVES[1];
        code.emit(Opcode.VMOVUPS, STEP, frame.constant(Int8ConversionCode.QUARTERS_TOGETHER));
        code.emit(Opcode.VPERMD, codes, STEP, frame.codes(p, four * 64));
        code.emit(Opcode.VPERMD, unsigned, STEP, frame.codes(p, four * 64 + HALF_BYTES));
        code.emit(unpack, codes, codes, unsigned);
        code.emit(Opcode.VPSHUFB, codes, codes, frame.constant(Int8ConversionCode.CODES_TOGETHER));
        code.emit(Opcode.VPABSB, unsigned, codes);
        for (int r = 0; r < rows; r++) {
            Vector sum = frame.sum(p, r, half);
            frame.number(r, Int8ConversionCode.BYTES + four * 4);
            code.emit(Opcode.VPSIGNB, STEP, NUMBER, codes);
            code.emit(Opcode.VPMADDUBSW, STEP, unsigned, STEP);
            code.emit(Opcode.VPMADDWD, STEP, STEP, frame.constant(Int8ConversionCode.ONES));
            code.emit(Opcode.VPADDD, sum, sum, STEP);
        }
    }

    private void nibbles(int p, int four) {
        for (int half = 0; half < 2; half++) {
            Vector codes = HALVES[half];
            code.emit(Opcode.VMOVUPS, codes, frame.codes(p, four / 2 * 64 + half * HALF_BYTES));
            if (four % 2 == 1) {
                code.shift(Opcode.VPSRLD, codes, codes, 4);
            }
            code.emit(Opcode.VPANDD, codes, codes, frame.constant(Int8ConversionCode.LOWER_NIBBLES));
        }
        for (int r = 0; r < rows; r++) {
            frame.number(r, Int8ConversionCode.BYTES + four * 4);
            for (int half = 0; half < 2; half++) {
                Vector sum = frame.sum(p, r, half);
                code.emit(Opcode.VPMADDUBSW, STEP, HALVES[half], NUMBER);
                code.emit(Opcode.VPADDW, sum, sum, STEP);
            }
        }
    }
}
