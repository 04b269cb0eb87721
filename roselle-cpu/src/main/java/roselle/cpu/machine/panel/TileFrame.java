package roselle.cpu.machine.panel;

import static roselle.cpu.machine.assembler.Operand.at;

import roselle.cpu.machine.assembler.Assembler;
import roselle.cpu.machine.assembler.Assembler.Label;
import roselle.cpu.machine.assembler.Opcode;
import roselle.cpu.machine.assembler.Operand.General;
import roselle.cpu.machine.assembler.Operand.Memory;
import roselle.cpu.machine.assembler.Operand.Vector;
import roselle.tensor.DataType;

/** What routines that turn rows around have in common, whatever their vectors: arguments, the walk over rows, the loop. */
final class TileFrame {
    static final General FROM = General.RSI;
    static final General TO = General.RDX;
    static final General STEP = General.R8;

    private static final int LINE = 64;
    private static final General LEFT = General.RCX;
    private static final General STEP_3 = General.R9;
    /** Each points to the row after the four before. */
    private static final General[] FOURTHS = {FROM, General.RAX, General.R10, General.R11};

    private final Assembler code = new Assembler();

    /** Begins a routine by loading its arguments. */
    TileFrame() {
        code.load(FROM, at(General.RDI, TileCode.SOURCE));
        code.load(STEP, at(General.RDI, TileCode.STRIDE));
        code.load(TO, at(General.RDI, TileCode.TARGET));
        code.load(LEFT, at(General.RDI, TileCode.COUNT));
    }

    Assembler code() {
        return code;
    }

    /** Goes on with a loop as often as was asked. */
    void endLoop(Label next) {
        code.add(LEFT, -1);
        code.jumpIfNotZero(next);
    }

    /** Ends a loop and the routine. */
    byte[] end(Label next) {
        endLoop(next);
        code.ret();
        return code.bytes();
    }

    /** Goes over pairs of rows as often as there are panels, sixteen numbers further each time, and ends the routine. */
    byte[] panels(DataType type, Runnable pair) {
        code.push(General.RBX);
        code.load(General.RBX, at(General.RDI, TileCode.FETCHED));
        code.load(General.R10, at(General.RDI, TileCode.PANELS));
        code.load(General.R11, at(General.RDI, TileCode.PANEL_BYTES));
        Label panel = code.here();
        code.move(General.RAX, FROM);
        code.move(General.R9, TO);
        code.load(LEFT, at(General.RDI, TileCode.COUNT));
        Label next = code.here();
        fetch(General.RBX, 2 * Panel.OUTPUTS * type.blockBytes());
        pair.run();
        code.address(FROM, at(FROM, STEP, 2, 0));
        endLoop(next);
        code.move(FROM, General.RAX);
        code.add(FROM, Panel.OUTPUTS * type.blockBytes());
        code.move(TO, General.R9);
        code.add(TO, General.R11);
        code.add(General.R10, -1);
        code.jumpIfNotZero(panel);
        code.pop(General.RBX);
        code.ret();
        return code.bytes();
    }

    /** Has so many bytes brought to the caches, and goes on by as many. */
    void fetch(General from, int bytes) {
        for (int line = 0; line < bytes; line += LINE) {
            code.prefetch(at(from, line));
        }
        code.add(from, bytes);
    }

    /** Brings a vector of numbers of a type to float32, the one with an index from the source on. */
    void widen(DataType type, Vector target, int index) {
        widen(type, target, at(FROM, index * bytes(type, target)));
    }

    /** Bytes of as many numbers of a type as a vector has of float32. */
    static int bytes(DataType type, Vector vector) {
        return vector.bits() / Float.SIZE * type.blockBytes();
    }

    void widen(DataType type, Vector target, Memory source) {
        switch (type) {
            case F32 -> code.emit(Opcode.VMOVUPS, target, source);
            case F16 -> code.emit(Opcode.VCVTPH2PS, target, source);
            case BF16 -> {
                code.emit(Opcode.VPMOVZXWD, target, source);
                code.shift(Opcode.VPSLLD, target, target, 16);
            }
            default -> throw new IllegalArgumentException("no tiles of " + type.label());
        }
    }

    /** Begins a loop over sixteen rows. */
    Label rows() {
        code.address(STEP_3, at(STEP, STEP, 2, 0));
        for (int i = 1; i < FOURTHS.length; i++) {
            code.address(FOURTHS[i], at(FOURTHS[i - 1], STEP, 4, 0));
        }
        return code.here();
    }

    /** Where one of the sixteen rows is. */
    static Memory row(int row, int bytes) {
        General base = FOURTHS[row / 4];
        return switch (row % 4) {
            case 0 -> at(base, bytes);
            case 1 -> at(base, STEP, 1, bytes);
            case 2 -> at(base, STEP, 2, bytes);
            default -> at(base, STEP_3, 1, bytes);
        };
    }

    /** Goes on by so many bytes in each row and in the target. */
    void advance(int from, int to) {
        for (General fourth : FOURTHS) {
            code.add(fourth, from);
        }
        code.add(TO, to);
    }
}
