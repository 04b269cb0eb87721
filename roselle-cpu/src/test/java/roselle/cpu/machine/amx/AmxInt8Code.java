package roselle.cpu.machine.amx;

import static roselle.cpu.machine.assembler.Operand.at;
import static roselle.cpu.machine.assembler.Operand.zmm;

import roselle.cpu.machine.assembler.Assembler;
import roselle.cpu.machine.assembler.Assembler.Label;
import roselle.cpu.machine.assembler.Opcode;
import roselle.cpu.machine.assembler.Operand.General;
import roselle.cpu.machine.assembler.Operand.Tile;
import roselle.cpu.machine.assembler.Operand.Vector;
import roselle.cpu.machine.panel.Panel;

/**
 * Writes the product of sixteen activation rows of bytes with panels of bytes in AMX tiles, a scale for each 32 of both: the
 * road that was not taken, kept so that its speed can be measured beside that of bfloat16 ({@link AmxProbe}).
 *
 * <p>Formula: {@code out[r][n] = sum over blocks b of fma((float) (sum over k in b of w[n][k] * x[r][k]) * sx[r][b],
 * sw[n][b], sum before)}. A tile's sums of integers are exact, are stored after every 32 k, and become float32 in vectors:
 * 48 instructions for every tile of 8192 products.
 *
 * <p>A panel has, for a block, 8 lines of four k of 16 outputs each; after all blocks 16 float16 scales for each. Scales of x
 * are float32, 16 rows together for each block.
 */
final class AmxInt8Code {
    /** The address of the first panel; the code leaves that of the panel after its last. */
    static final int WEIGHTS = 0;

    static final int PANEL_BYTES = 8;
    static final int SCALES_AT = 16;
    static final int INPUT = 24;
    static final int STRIDE = 32;
    static final int INPUT_SCALES = 40;

    /** The address of the outputs; the code leaves that of the output after its last. */
    static final int OUTPUT = 48;

    static final int OUTPUT_STRIDE = 56;
    static final int PANELS = 64;

    /** Blocks of k, divided by {@link #UNROLLED}. */
    static final int STEPS = 72;

    static final int CONFIGURATION = 80;

    /** The address of room for {@link #UNROLLED} tiles. */
    static final int SCRATCH = 88;

    static final int SIZE = 96;

    static final int ROWS = 16;
    static final int BLOCK = 32;
    static final int UNROLLED = 4;
    static final int BLOCK_BYTES = 512;

    private static final int LINE = 64;
    private static final int TILE_BYTES = 1024;

    private static final General ARGUMENTS = General.RDI;
    private static final General X = General.RSI;
    private static final General X_STRIDE = General.RCX;
    private static final General X_SCALES = General.RDX;
    private static final General W = General.R8;
    private static final General W_SCALES = General.R9;
    private static final General LINES = General.RAX;
    private static final General STEPS_LEFT = General.R10;
    private static final General SUMS = General.R11;
    private static final General PANELS_LEFT = General.RBX;
    private static final General OTHER = General.R12;
    private static final Vector SCALE = zmm(31);

    private final Assembler code = new Assembler();

    private AmxInt8Code() {}

    static byte[] routine() {
        var writer = new AmxInt8Code();
        writer.write();
        return writer.code.bytes();
    }

    /** Outputs and weights have lines of 64 bytes, x has 32; weights have 8 rows. */
    static byte[] configuration() {
        var bytes = new byte[64];
        bytes[0] = 1;
        for (int tile = 0; tile < 8; tile++) {
            boolean isX = tile == 4 || tile == 6;
            boolean isWeights = tile == 5 || tile == 7;
            bytes[16 + 2 * tile] = (byte) (isX ? BLOCK : LINE);
            bytes[48 + tile] = (byte) (isWeights ? BLOCK / 4 : ROWS);
        }
        return bytes;
    }

    private void write() {
        code.push(PANELS_LEFT);
        code.push(OTHER);
        code.load(OTHER, at(ARGUMENTS, CONFIGURATION));
        code.emit(Opcode.LDTILECFG, at(OTHER, 0));
        code.load(X_STRIDE, at(ARGUMENTS, STRIDE));
        code.load(SUMS, at(ARGUMENTS, SCRATCH));
        code.set(LINES, LINE);
        code.load(PANELS_LEFT, at(ARGUMENTS, PANELS));
        Label next = code.here();
        panel();
        code.add(PANELS_LEFT, -1);
        code.jumpIfNotZero(next);
        code.emit(Opcode.TILERELEASE);
        code.pop(OTHER);
        code.pop(PANELS_LEFT);
        code.ret();
    }

    private void panel() {
        code.load(W, at(ARGUMENTS, WEIGHTS));
        code.load(W_SCALES, at(ARGUMENTS, SCALES_AT));
        code.add(W_SCALES, W);
        code.load(X, at(ARGUMENTS, INPUT));
        code.load(X_SCALES, at(ARGUMENTS, INPUT_SCALES));
        for (int r = 0; r < ROWS; r++) {
            code.emit(Opcode.VPXORD, zmm(r), zmm(r), zmm(r));
        }
        code.load(STEPS_LEFT, at(ARGUMENTS, STEPS));
        Label next = code.here();
        for (int block = 0; block < UNROLLED; block++) {
            integers(block);
        }
        for (int block = 0; block < UNROLLED; block++) {
            floats(block);
        }
        code.add(X, UNROLLED * BLOCK);
        code.add(W, UNROLLED * BLOCK_BYTES);
        code.add(X_SCALES, UNROLLED * ROWS * Float.BYTES);
        code.add(W_SCALES, UNROLLED * Panel.OUTPUTS * Short.BYTES);
        code.add(STEPS_LEFT, -1);
        code.jumpIfNotZero(next);
        end();
    }

    private void integers(int block) {
        var sums = new Tile(block);
        var x = new Tile(4 + block % 2 * 2);
        var w = new Tile(5 + block % 2 * 2);
        code.emit(Opcode.TILEZERO, sums);
        code.emit(Opcode.TILELOADD, x, at(X, X_STRIDE, 1, block * BLOCK));
        code.emit(Opcode.TILELOADD, w, at(W, LINES, 1, block * BLOCK_BYTES));
        code.emit(Opcode.TDPBSSD, sums, x, w);
        code.emit(Opcode.TILESTORED, at(SUMS, LINES, 1, block * TILE_BYTES), sums);
    }

    private void floats(int block) {
        code.emit(Opcode.VCVTPH2PS, SCALE, at(W_SCALES, block * Panel.OUTPUTS * Short.BYTES));
        for (int r = 0; r < ROWS; r++) {
            Vector sum = zmm(16 + r % 8);
            code.emit(Opcode.VCVTDQ2PS, sum, at(SUMS, block * TILE_BYTES + r * LINE));
            code.emit(
                    Opcode.VMULPS,
                    sum,
                    sum,
                    at(X_SCALES, (block * ROWS + r) * Float.BYTES).toAllLanes());
            code.emit(Opcode.VFMADD231PS, zmm(r), sum, SCALE);
        }
    }

    private void end() {
        code.load(X, at(ARGUMENTS, OUTPUT));
        code.load(OTHER, at(ARGUMENTS, OUTPUT_STRIDE));
        for (int r = 0; r < ROWS; r++) {
            code.emit(Opcode.VMOVUPS_STORE, at(X, 0), zmm(r));
            code.add(X, OTHER);
        }
        code.load(X, at(ARGUMENTS, OUTPUT));
        code.add(X, LINE);
        code.store(at(ARGUMENTS, OUTPUT), X);
        code.load(W, at(ARGUMENTS, WEIGHTS));
        code.load(OTHER, at(ARGUMENTS, PANEL_BYTES));
        code.add(W, OTHER);
        code.store(at(ARGUMENTS, WEIGHTS), W);
    }
}
