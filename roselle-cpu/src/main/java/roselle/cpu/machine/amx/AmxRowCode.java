package roselle.cpu.machine.amx;

import static roselle.cpu.machine.assembler.Operand.at;
import static roselle.cpu.machine.assembler.Operand.zmm;
import static roselle.cpu.machine.panel.PanelDecoder.CODES;
import static roselle.cpu.machine.panel.PanelDecoder.EVEN;
import static roselle.cpu.machine.panel.PanelDecoder.MINIMA;
import static roselle.cpu.machine.panel.PanelDecoder.ODD;
import static roselle.cpu.machine.panel.PanelDecoder.SCALES;

import roselle.cpu.machine.assembler.Assembler;
import roselle.cpu.machine.assembler.Assembler.Label;
import roselle.cpu.machine.assembler.Opcode;
import roselle.cpu.machine.assembler.Operand.General;
import roselle.cpu.machine.assembler.Operand.Memory;
import roselle.cpu.machine.assembler.Operand.Vector;
import roselle.cpu.machine.panel.Constants;
import roselle.cpu.machine.panel.Panel;
import roselle.cpu.machine.panel.PanelDecoder;

/**
 * Writes the product of a few activation rows with panels with scales in vectors, with the bits of {@link AmxPanelCode} and
 * {@link AmxGemmCode} together.
 *
 * <p>A row or two do not pay for a panel of bfloat16 that is written, loaded into tiles and never used again: weights are
 * decoded, rounded and multiplied in registers. Sums are those of a tile: even and odd numbers of 32 apart, fused, then both
 * together; subnormal numbers are zeros, which the processor is told for the time of the call. {@link AmxTwin} is the scalar
 * twin.
 *
 * <p>A number w stays float32 and loses the 16 bits that bfloat16 has not by {@code 65536 * w - (65536 * w - w)}, both fused
 * (after Dekker, 1971): what the inner difference rounds away, to the nearest and to even, is just that. It costs two instructions
 * where packing to bfloat16 and unpacking again cost as much time as four. The inner is a difference and no sum, because a sum
 * may have one bit more before its point than {@code 65536 * w}, just below a power of two, and then one less after it. A scale
 * that is infinite would give no number, so panels with such a one are not for it ({@link Panel#hasFiniteScales}).
 */
final class AmxRowCode implements PanelDecoder.Pairs {
    /** The address of the first panel; the code leaves that of the panel after its last. */
    static final int WEIGHTS = 0;

    /** Bytes from a panel to the next. */
    static final int PANEL_BYTES = 8;

    /** Bytes from a panel's begin to its scales, and to its minima. */
    static final int SCALES_AT = 16;

    static final int MINIMA_AT = 24;
    static final int UNITS = 32;
    static final int PANELS = 40;

    /** The address of the first row of activations: bfloat16 widened to float32. */
    static final int INPUT = 48;

    /** Bytes from a row of activations to the next. */
    static final int STRIDE = 56;

    /** The address of the outputs, float32; the code leaves that of the output after its last. */
    static final int OUTPUT = 64;

    /** Bytes from a row of outputs to the next. */
    static final int OUTPUT_STRIDE = 72;

    /** The address of {@link Constants}. */
    static final int CONSTANTS = 80;

    /** How the processor rounds meanwhile, {@link #SUBNORMAL_IS_ZERO}, and a place for how it rounded before; ints. */
    static final int CONTROL = 88;

    static final int CONTROL_BEFORE = 92;

    /** The number {@link #BEYOND_BFLOAT16}, float32. */
    static final int ROUNDING = 96;

    static final int SIZE = 104;

    /** How many times a number is its last bit that bfloat16 has not. */
    static final float BEYOND_BFLOAT16 = 1 << 16;

    /** The value of MXCSR: all exceptions masked, round to nearest even, subnormal operands and results are zeros. */
    static final int SUBNORMAL_IS_ZERO = 0x9FC0;

    /** Rows of one call at most. */
    static final int ROWS = 4;

    private static final int LINE = 64;

    private static final General ARGUMENTS = General.RDI;
    private static final General X = General.R8;
    private static final General X_STRIDE = General.RAX;
    private static final General X_STRIDE_3 = General.R11;
    private static final General UNITS_LEFT = General.R9;
    private static final General PANELS_LEFT = General.R10;
    private static final General OTHER = General.R9; // between panels

    private static final Vector ROUNDED_EVEN = zmm(15);
    private static final Vector ROUNDED_ODD = zmm(30);
    private static final Vector BEYOND = zmm(31); // 65536

    private static final Vector[] SUMS = {zmm(7), zmm(8), zmm(9), zmm(10)};
    private static final Vector[] EVEN_SUMS = {zmm(11), zmm(12), zmm(13), zmm(14)};
    private static final Vector[] ODD_SUMS = {zmm(20), zmm(21), zmm(22), zmm(23)};

    private final Assembler code = new Assembler();
    private final Panel panel;
    private final int rows;
    private final PanelDecoder decoder;

    private AmxRowCode(Panel panel, int rows) {
        this.panel = panel;
        this.rows = rows;
        decoder = new PanelDecoder(code, panel, this);
    }

    /** The code for panels of a kind that has scales, and so many rows. */
    static byte[] of(Panel panel, int rows) {
        if (rows < 1 || rows > ROWS) {
            throw new IllegalArgumentException(rows + " rows");
        }
        var writer = new AmxRowCode(panel, rows);
        writer.routine();
        return writer.code.bytes();
    }

    private void routine() {
        code.storeControl(at(ARGUMENTS, CONTROL_BEFORE));
        code.loadControl(at(ARGUMENTS, CONTROL));
        code.load(OTHER, at(ARGUMENTS, CONSTANTS));
        decoder.constants(OTHER);
        code.emit(Opcode.VBROADCASTSS, BEYOND, at(ARGUMENTS, ROUNDING));
        code.load(X_STRIDE, at(ARGUMENTS, STRIDE));
        code.address(X_STRIDE_3, at(X_STRIDE, X_STRIDE, 2, 0));
        code.load(PANELS_LEFT, at(ARGUMENTS, PANELS));
        Label next = code.here();
        begin();
        code.load(UNITS_LEFT, at(ARGUMENTS, UNITS));
        Label nextUnit = code.here();
        decoder.unit();
        code.add(UNITS_LEFT, -1);
        code.jumpIfNotZero(nextUnit);
        end();
        code.add(PANELS_LEFT, -1);
        code.jumpIfNotZero(next);
        code.loadControl(at(ARGUMENTS, CONTROL_BEFORE));
        code.ret();
    }

    private void begin() {
        code.load(CODES, at(ARGUMENTS, WEIGHTS));
        code.load(SCALES, at(ARGUMENTS, SCALES_AT));
        code.add(SCALES, CODES);
        code.load(MINIMA, at(ARGUMENTS, MINIMA_AT));
        code.add(MINIMA, CODES);
        code.load(X, at(ARGUMENTS, INPUT));
        for (int r = 0; r < rows; r++) {
            zero(SUMS[r]);
            zero(EVEN_SUMS[r]);
            zero(ODD_SUMS[r]);
        }
    }

    private void zero(Vector target) {
        code.emit(Opcode.VPXORD, target, target, target);
    }

    private void end() {
        code.load(X, at(ARGUMENTS, OUTPUT));
        code.load(OTHER, at(ARGUMENTS, OUTPUT_STRIDE));
        for (int r = 0; r < rows; r++) {
            code.emit(Opcode.VMOVUPS_STORE, at(X, 0), SUMS[r]);
            code.add(X, OTHER);
        }
        advance(OUTPUT, LINE);
        code.load(OTHER, at(ARGUMENTS, PANEL_BYTES));
        code.load(X, at(ARGUMENTS, WEIGHTS));
        code.add(X, OTHER);
        code.store(at(ARGUMENTS, WEIGHTS), X);
    }

    private void advance(int argument, int bytes) {
        code.load(X, at(ARGUMENTS, argument));
        code.add(X, bytes);
        code.store(at(ARGUMENTS, argument), X);
    }

    @Override
    public void pair(int pair) {
        round(ROUNDED_EVEN, EVEN);
        round(ROUNDED_ODD, ODD);
        for (int r = 0; r < rows; r++) {
            code.emit(Opcode.VFMADD231PS, EVEN_SUMS[r], ROUNDED_EVEN, x(r, 2 * pair));
            code.emit(Opcode.VFMADD231PS, ODD_SUMS[r], ROUNDED_ODD, x(r, 2 * pair + 1));
        }
    }

    private void round(Vector target, Vector number) {
        code.emit(Opcode.VMOVUPS, target, number);
        code.emit(Opcode.VFMSUB213PS, target, BEYOND, target);
        code.emit(Opcode.VFMSUB231PS, target, BEYOND, number);
    }

    /** A number of a row, from the current block on. */
    private static Memory x(int row, int k) {
        int bytes = k * Float.BYTES;
        Memory number = switch (row) {
            case 0 -> at(X, bytes);
            case 1 -> at(X, X_STRIDE, 1, bytes);
            case 2 -> at(X, X_STRIDE, 2, bytes);
            default -> at(X, X_STRIDE_3, 1, bytes);
        };
        return number.toAllLanes();
    }

    @Override
    public void endBlock(int block) {
        code.add(X, panel.block() * Float.BYTES);
        if ((block + 1) * panel.block() % AmxGemmCode.DEPTH == 0) {
            for (int r = 0; r < rows; r++) {
                code.emit(Opcode.VADDPS, EVEN_SUMS[r], EVEN_SUMS[r], ODD_SUMS[r]);
                code.emit(Opcode.VADDPS, SUMS[r], SUMS[r], EVEN_SUMS[r]);
                zero(EVEN_SUMS[r]);
                zero(ODD_SUMS[r]);
            }
        }
    }
}
