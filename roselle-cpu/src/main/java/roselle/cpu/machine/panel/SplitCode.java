package roselle.cpu.machine.panel;

import static roselle.cpu.machine.assembler.Operand.at;
import static roselle.cpu.machine.assembler.Operand.zmm;

import roselle.cpu.machine.assembler.Assembler;
import roselle.cpu.machine.assembler.Opcode;
import roselle.cpu.machine.assembler.Operand.General;
import roselle.cpu.machine.assembler.Operand.Vector;

/** Writes the splitting of float32 into two numbers of bfloat16; {@link BrainFloat} is the scalar twin. */
final class SplitCode {
    private static final int LINE = 64;

    private SplitCode() {}

    /** Rounds two vectors to one of bfloat16. */
    static void round(Assembler code, Vector target, Vector lower, Vector upper) {
        code.emit(Opcode.VCVTNE2PS2BF16, target, upper, lower);
    }

    /** Stores a line of what the first two registers are rounded to, then one of what is left of them. */
    static void store(Assembler code, General target) {
        round(code, zmm(2), zmm(0), zmm(1));
        code.emit(Opcode.VMOVUPS_STORE, at(target, 0), zmm(2));
        takeRounded(code, zmm(0), zmm(3));
        takeRounded(code, zmm(1), zmm(3));
        round(code, zmm(2), zmm(0), zmm(1));
        code.emit(Opcode.VMOVUPS_STORE, at(target, LINE), zmm(2));
    }

    /** Takes from a vector what rounding makes of it; the other holds the rounded numbers afterwards, in upper halves of words. */
    static void takeRounded(Assembler code, Vector numbers, Vector other) {
        lowerHalves(code, other, numbers);
        code.shift(Opcode.VPSLLD, other, other, 16);
        code.emit(Opcode.VSUBPS, numbers, numbers, other);
    }

    /** Rounds a vector to bfloat16, in the lower halves of words. */
    static void lowerHalves(Assembler code, Vector target, Vector numbers) {
        round(code, target, numbers, numbers);
        code.emit(Opcode.VPMOVZXWD, target, target); // its lower half
    }
}
