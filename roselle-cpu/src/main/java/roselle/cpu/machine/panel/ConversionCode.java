package roselle.cpu.machine.panel;

import static roselle.cpu.machine.assembler.Operand.at;
import static roselle.cpu.machine.assembler.Operand.zmm;

import roselle.cpu.machine.Compute;
import roselle.cpu.machine.assembler.Assembler;
import roselle.cpu.machine.assembler.Assembler.Label;
import roselle.cpu.machine.assembler.Opcode;
import roselle.cpu.machine.assembler.Operand.General;
import roselle.cpu.machine.assembler.Operand.Vector;
import roselle.cpu.machine.gemm.PanelGemm;

/**
 * Writes the conversion of a row of activations to what products read: its numbers in a precision, then, unless they are split, the sum of
 * each 32.
 *
 * <p>A sum adds the even numbers to the odd ones, lane by lane, and then halves onto halves. {@link PanelGemm} has the
 * scalar twin.
 */
public final class ConversionCode {
    public static final int SOURCE = 0;
    public static final int TARGET = 8;
    public static final int SUMS = 16;
    public static final int BLOCKS = 24;
    public static final int TABLES = 32;
    public static final int SIZE = 40;

    /** Bytes that are written beyond the last sum. */
    public static final int SPILL = 60;

    private ConversionCode() {}

    public static byte[] of(Compute compute) {
        var code = new Assembler();
        code.load(General.RSI, at(General.RDI, SOURCE));
        code.load(General.RDX, at(General.RDI, TARGET));
        code.load(General.RCX, at(General.RDI, SUMS));
        code.load(General.R8, at(General.RDI, BLOCKS));
        code.load(General.RAX, at(General.RDI, TABLES));
        for (int i = 0; i < 4; i++) {
            code.emit(Opcode.VMOVUPS, zmm(28 + i), at(General.RAX, Constants.ROTATIONS + 64 * i));
        }
        code.emit(Opcode.VMOVUPS, zmm(27), at(General.RAX, Constants.UPPER_MASK));
        Label next = code.here();
        if (compute == Compute.SPLIT) {
            split(code);
        } else {
            block(code, compute);
        }
        code.add(General.RSI, 128);
        code.add(General.RDX, 32 * compute.bytes());
        code.add(General.RCX, Float.BYTES);
        code.add(General.R8, -1);
        code.jumpIfNotZero(next);
        code.ret();
        return code.bytes();
    }

    /** Of split numbers nobody reads sums. */
    private static void split(Assembler code) {
        code.emit(Opcode.VMOVUPS, zmm(0), at(General.RSI, 0));
        code.emit(Opcode.VMOVUPS, zmm(1), at(General.RSI, 64));
        SplitCode.store(code, General.RDX);
    }

    private static void block(Assembler code, Compute compute) {
        Vector sum = zmm(0);
        Vector other = zmm(1);
        code.emit(Opcode.VMOVUPS, sum, at(General.RSI, 0));
        code.emit(Opcode.VMOVUPS, other, at(General.RSI, 64));
        if (compute == Compute.BF16) {
            Vector pairs = zmm(2);
            code.emit(Opcode.VCVTNE2PS2BF16, pairs, other, sum);
            code.emit(Opcode.VMOVUPS_STORE, at(General.RDX, 0), pairs);
            code.shift(Opcode.VPSLLD, sum, pairs, 16);
            code.emit(Opcode.VPANDD, other, pairs, zmm(27));
        } else {
            code.emit(Opcode.VMOVUPS_STORE, at(General.RDX, 0), sum);
            code.emit(Opcode.VMOVUPS_STORE, at(General.RDX, 64), other);
        }
        code.emit(Opcode.VADDPS, sum, sum, other);
        for (int i = 0; i < 4; i++) {
            code.emit(Opcode.VPERMPS, other, zmm(28 + i), sum);
            code.emit(Opcode.VADDPS, sum, sum, other);
        }
        code.emit(Opcode.VMOVUPS_STORE, at(General.RCX, 0), sum);
    }
}
