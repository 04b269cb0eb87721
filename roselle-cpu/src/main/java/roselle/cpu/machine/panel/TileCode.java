package roselle.cpu.machine.panel;

import static roselle.cpu.machine.assembler.Operand.at;
import static roselle.cpu.machine.assembler.Operand.zmm;
import static roselle.cpu.machine.panel.TileFrame.FROM;
import static roselle.cpu.machine.panel.TileFrame.STEP;
import static roselle.cpu.machine.panel.TileFrame.TO;

import roselle.cpu.machine.Compute;
import roselle.cpu.machine.assembler.Assembler;
import roselle.cpu.machine.assembler.Assembler.Label;
import roselle.cpu.machine.assembler.Opcode;
import roselle.cpu.machine.assembler.Operand.General;
import roselle.cpu.machine.gemm.GemmCode;
import roselle.tensor.DataType;

/**
 * Writes what brings rows of plain numbers, keys, values and weights, into the panels that {@link GemmCode} reads.
 *
 * <p>Each routine takes the address of source, distance of rows, target and count; those of values and {@link PanelCode}'s take more.
 */
final class TileCode {
    static final int SOURCE = 0;
    static final int STRIDE = 8;
    static final int TARGET = 16;
    static final int COUNT = 24;
    static final int TABLES = 32;
    static final int SCALES = 40;
    static final int MINIMA = 48;

    /** Of values: how many panels, and the bytes from one to the next. */
    static final int PANELS = SCALES;

    static final int PANEL_BYTES = MINIMA;

    /** Of keys and values: from where on as many bytes as are read are brought to the caches. */
    static final int FETCHED = 56;

    /** Where a routine may keep sixteen lines. */
    static final int SCRATCH = 64;

    static final int BYTES = SCRATCH + 1024;

    private static final int LINE = 64;
    private static final int WIDTH = Panel.OUTPUTS;

    private final TileFrame frame = new TileFrame();
    private final Assembler code = frame.code();

    private TileCode() {}

    /** Numbers that follow each other, so many times 32, from a type to a precision. */
    static byte[] convert(DataType type, Compute compute) {
        var writer = new TileCode();
        Assembler code = writer.code;
        Label next = code.here();
        if (type == DataType.BF16 && compute == Compute.BF16) {
            code.emit(Opcode.VMOVUPS, zmm(0), at(FROM, 0));
            code.emit(Opcode.VMOVUPS_STORE, at(TO, 0), zmm(0));
        } else {
            writer.frame.widen(type, zmm(0), 0);
            writer.frame.widen(type, zmm(1), 1);
            if (compute == Compute.BF16) {
                code.emit(Opcode.VCVTNE2PS2BF16, zmm(0), zmm(1), zmm(0));
                code.emit(Opcode.VMOVUPS_STORE, at(TO, 0), zmm(0));
            } else if (compute == Compute.SPLIT) {
                SplitCode.store(code, TO);
            } else {
                code.emit(Opcode.VMOVUPS_STORE, at(TO, 0), zmm(0));
                code.emit(Opcode.VMOVUPS_STORE, at(TO, LINE), zmm(1));
            }
        }
        code.add(FROM, 32 * type.blockBytes());
        code.add(TO, 32 * compute.bytes());
        return writer.frame.end(next);
    }

    /**
     * Sixteen rows of a type become a panel in a precision: so many times sixteen lines, with a word of 32 bits of each row in each, a
     * number of float32 or a pair of bfloat16.
     */
    static byte[] keys(DataType type, Compute compute) {
        var writer = new TileCode();
        int rowBytes = LINE / compute.bytes() * type.blockBytes();
        writer.code.load(General.RDI, at(General.RDI, FETCHED));
        Label next = writer.frame.rows();
        writer.frame.fetch(General.RDI, WIDTH * rowBytes);
        for (int row = 0; row < WIDTH; row++) {
            writer.word(type, compute, row);
        }
        Transposition.turn(writer.code);
        writer.store(Opcode.VMOVUPS_STORE, rowBytes);
        return writer.frame.end(next);
    }

    /** The same of split numbers: so many times 32 of them, first all rows' rounded, then what is left of them. */
    static byte[] splitKeys(DataType type) {
        var writer = new TileCode();
        int rowBytes = 2 * WIDTH * type.blockBytes();
        writer.code.load(General.RDI, at(General.RDI, FETCHED));
        Label next = writer.frame.rows();
        writer.frame.fetch(General.RDI, WIDTH * rowBytes);
        for (int row = 0; row < WIDTH; row++) {
            writer.twoVectors(type, row);
            SplitCode.round(writer.code, zmm(row), zmm(16), zmm(17));
        }
        Transposition.turn(writer.code);
        writer.store(Opcode.VMOVUPS_STORE, 0);
        for (int row = 0; row < WIDTH; row++) {
            writer.twoVectors(type, row);
            SplitCode.takeRounded(writer.code, zmm(16), zmm(18));
            SplitCode.takeRounded(writer.code, zmm(17), zmm(18));
            SplitCode.round(writer.code, zmm(row), zmm(16), zmm(17));
        }
        Transposition.turn(writer.code);
        writer.store(Opcode.VMOVUPS_STORE, rowBytes);
        return writer.frame.end(next);
    }

    private void twoVectors(DataType type, int row) {
        frame.widen(type, zmm(16), TileFrame.row(row, 0));
        frame.widen(type, zmm(17), TileFrame.row(row, TileFrame.bytes(type, zmm(17))));
    }

    /** Brings as much of a row as is 64 bytes in a precision to the register of its number. */
    private void word(DataType type, Compute compute, int row) {
        if (compute == Compute.F32) {
            frame.widen(type, zmm(row), TileFrame.row(row, 0));
        } else if (type == DataType.BF16) {
            code.emit(Opcode.VMOVUPS, zmm(row), TileFrame.row(row, 0));
        } else {
            twoVectors(type, row);
            code.emit(Opcode.VCVTNE2PS2BF16, zmm(row), zmm(17), zmm(16));
        }
    }

    /** Sixteen rows as they are, around the caches: of weights, which nobody reads soon; the target is aligned to lines. */
    static byte[] transposeFar() {
        var writer = new TileCode();
        Label next = writer.transposed();
        writer.store(Opcode.VMOVNTPS, LINE);
        return writer.endFar(next);
    }

    private void store(Opcode store, int rowBytes) {
        for (int line = 0; line < 16; line++) {
            code.emit(store, at(TO, line * LINE), zmm(line));
        }
        frame.advance(rowBytes, 16 * LINE);
    }

    private byte[] endFar(Label next) {
        frame.endLoop(next);
        code.sfence();
        code.ret();
        return code.bytes();
    }

    /**
     * The same around the caches, but the lower halves of a line come first, then the upper ones: numbers of 16 bits one k
     * after the other.
     */
    static byte[] transposeHalves() {
        var writer = new TileCode();
        Assembler code = writer.code;
        code.load(General.RDI, at(General.RDI, TABLES));
        Label next = writer.transposed();
        code.emit(Opcode.VMOVUPS, zmm(16), at(General.RDI, PanelCode.HALVES * LINE));
        for (int line = 0; line < 16; line++) {
            code.emit(Opcode.VPERMW, zmm(line), zmm(16), zmm(line));
            code.emit(Opcode.VMOVNTPS, at(TO, line * LINE), zmm(line));
        }
        writer.frame.advance(LINE, 16 * LINE);
        return writer.endFar(next);
    }

    /** Begins a loop with a line of each of sixteen rows, transposed, in the registers 0 to 15. */
    private Label transposed() {
        Label next = frame.rows();
        Transposition.load(code, 0);
        return next;
    }

    /** So many pairs of rows of a type become lines of so many panels: sixteen pairs of bfloat16, or two lines of float32. */
    static byte[] values(DataType type, Compute compute) {
        var writer = new TileCode();
        return writer.frame.panels(type, () -> writer.pair(type, compute));
    }

    /** The same of split numbers, whose lines of what is left lie a tile further on; rows are at most those of a tile. */
    static byte[] splitValues(DataType type) {
        var writer = new TileCode();
        return writer.frame.panels(type, () -> writer.splitPair(type));
    }

    private void splitPair(DataType type) {
        frame.widen(type, zmm(0), at(FROM, 0));
        frame.widen(type, zmm(1), at(FROM, STEP, 1, 0));
        SplitCode.takeRounded(code, zmm(0), zmm(2));
        SplitCode.takeRounded(code, zmm(1), zmm(3));
        code.shift(Opcode.VPSRLD, zmm(2), zmm(2), 16);
        code.emit(Opcode.VPORD, zmm(2), zmm(2), zmm(3));
        code.emit(Opcode.VMOVUPS_STORE, at(TO, 0), zmm(2));
        SplitCode.lowerHalves(code, zmm(0), zmm(0));
        SplitCode.lowerHalves(code, zmm(1), zmm(1));
        code.shift(Opcode.VPSLLD, zmm(1), zmm(1), 16);
        code.emit(Opcode.VPORD, zmm(0), zmm(0), zmm(1));
        code.emit(Opcode.VMOVUPS_STORE, at(TO, WIDTH * LINE), zmm(0));
        code.add(TO, LINE);
    }

    private void pair(DataType type, Compute compute) {
        if (type == DataType.BF16 && compute == Compute.BF16) {
            code.emit(Opcode.VPMOVZXWD, zmm(0), at(FROM, 0));
            code.emit(Opcode.VPMOVZXWD, zmm(1), at(FROM, STEP, 1, 0));
        } else {
            frame.widen(type, zmm(0), at(FROM, 0));
            frame.widen(type, zmm(1), at(FROM, STEP, 1, 0));
        }
        if (compute == Compute.F32) {
            code.emit(Opcode.VMOVUPS_STORE, at(TO, 0), zmm(0));
            code.emit(Opcode.VMOVUPS_STORE, at(TO, LINE), zmm(1));
            code.add(TO, 2 * LINE);
            return;
        }
        if (type != DataType.BF16) {
            for (int row = 0; row < 2; row++) {
                code.emit(Opcode.VCVTNE2PS2BF16, zmm(row), zmm(row), zmm(row));
                code.emit(Opcode.VPMOVZXWD, zmm(row), zmm(row)); // its lower half
            }
        }
        code.shift(Opcode.VPSLLD, zmm(1), zmm(1), 16);
        code.emit(Opcode.VPORD, zmm(0), zmm(0), zmm(1));
        code.emit(Opcode.VMOVUPS_STORE, at(TO, 0), zmm(0));
        code.add(TO, LINE);
    }
}
