package roselle.cpu.machine.amx;

import static roselle.cpu.machine.assembler.Operand.at;

import roselle.cpu.machine.assembler.Assembler;
import roselle.cpu.machine.assembler.Assembler.Label;
import roselle.cpu.machine.assembler.Opcode;
import roselle.cpu.machine.assembler.Operand.General;
import roselle.cpu.machine.assembler.Operand.Memory;
import roselle.cpu.machine.assembler.Operand.Tile;
import roselle.cpu.machine.panel.Panel;

/**
 * Writes the product of up to 32 activation rows of bfloat16 with panels of bfloat16, in AMX tiles, or of numbers that are split
 * into two of them.
 *
 * <p>Formula: {@code out[r][n] = (out[r][n] or 0) + sum over k of w[n][k] * x[r][k]}, float32 sums. A tile of x has up to 16
 * rows of 32 numbers, as they lie; a tile of weights is 32 numbers of k of a {@link Panel#BFLOAT16}, as it lies. A step sums
 * even and odd numbers of 32 apart, adds these two, and adds that to the tile of outputs; so a row's bits depend neither on
 * the other rows nor on where k is cut. {@link AmxTwin} is the scalar twin.
 *
 * <p>Of split numbers (bf16x3 of Henry, Tang and Heinecke, "Leveraging the bfloat16 Artificial Intelligence Datatype For
 * Higher-Precision Computations", 2019) a row has a line of 32 numbers rounded and then one of what is left of them, and so has a
 * {@link Panel#SPLIT}, in tiles. A step adds three products to the outputs, one after the other: of x rounded with what is left of
 * w, of both rounded, and of what is left of x with w rounded.
 *
 * <p>Tiles: 0 to 3 outputs, by rows then panels; then those of x; the others take weights in turn. Of a single tile of split rows
 * both parts stay. The configuration is that of the calling thread: it is loaded here, and given back before the return.
 *
 * <p>A processor renames tiles, but has few more than eight while another thread runs on its core; a load then waits for products
 * before it to end, the more the more tiles have a name. Twelve products of split numbers with their loads took 69 ns on a Xeon of
 * 2023 by each of nine orders; beside a busy neighbour 290 ns with eight names (two tiles of rows, two panels), 190 with six, and
 * 135 with five and other instructions between the products. So two tiles of split rows meet one panel at a time.
 */
final class AmxGemmCode {
    /** The address of the first panel; the code leaves that of the panel after its last. */
    static final int WEIGHTS = 0;

    /** Bytes from a panel to the next. */
    static final int PANEL_BYTES = 8;

    /** The address of the first row of x. */
    static final int INPUT = 16;

    /** Bytes from a row of x to the next. */
    static final int STRIDE = 24;

    /** The address of the outputs, float32; the code leaves that of the output after its last. */
    static final int OUTPUT = 32;

    /** Bytes from a row of outputs to the next. */
    static final int OUTPUT_STRIDE = 40;

    /** How many groups of panels. */
    static final int GROUPS = 48;

    /** Numbers of k, divided by 32. */
    static final int STEPS = 56;

    /** The address of the {@link #configuration} of tiles. */
    static final int CONFIGURATION = 64;

    /** Whether outputs are added to: 0 or 1. */
    static final int CONTINUES = 72;

    static final int SIZE = 80;

    /** Rows of a tile. */
    static final int ROWS = 16;

    /** Numbers of k of a step. */
    static final int DEPTH = 32;

    static final int CONFIGURATION_BYTES = 64;

    private static final int OUTPUT_TILES = 4;
    private static final int TILES = 8;
    private static final int LINE = 64;
    private static final int TILE_BYTES = ROWS * LINE;
    private static final int PREFETCH_BYTES = 4096;
    private static final int SPLIT_LINES = 2 * ROWS;
    private static final int PRODUCTS = 6; // of a step of two tiles of split rows

    private static final General ARGUMENTS = General.RDI;
    private static final General[] X = {General.RSI, General.RDX};
    private static final General X_STRIDE = General.RCX;
    private static final General[] W = {General.R8, General.R9, General.R10, General.R11};
    private static final General W_STRIDE = General.RAX;
    private static final General STEPS_LEFT = General.RBX;
    private static final General GROUPS_LEFT = General.R12;
    private static final General OTHER = General.R13;
    private static final General[] SAVED = {General.RBX, General.R12, General.R13};

    private final Assembler code = new Assembler();
    private final int rowTiles;
    private final int panels;
    private final boolean isSplit;

    private AmxGemmCode(int rowTiles, int panels, boolean isSplit) {
        this.rowTiles = rowTiles;
        this.panels = panels;
        this.isSplit = isSplit;
    }

    /** The code for one or two tiles of rows and so many panels at a time. */
    static byte[] of(int rowTiles, int panels, boolean isSplit) {
        int most = isSplit && rowTiles > 1 ? 1 : OUTPUT_TILES / rowTiles;
        if (rowTiles < 1 || rowTiles > X.length || panels < 1 || panels > most) {
            throw new IllegalArgumentException(rowTiles + " tiles of rows, " + panels + " panels");
        }
        var writer = new AmxGemmCode(rowTiles, panels, isSplit);
        writer.routine();
        return writer.code.bytes();
    }

    /** What tells the processor the sizes of tiles, for so many rows: palette 1, bytes of a row from 16 on, rows from 48 on. */
    static byte[] configuration(int rows, boolean isSplit) {
        var bytes = new byte[CONFIGURATION_BYTES];
        int rowTiles = rows > ROWS ? 2 : 1;
        bytes[0] = 1;
        for (int tile = 0; tile < TILES; tile++) {
            bytes[16 + 2 * tile] = LINE;
            bytes[48 + tile] = ROWS;
        }
        for (int r = 0; r < rowTiles; r++) {
            byte height = (byte) Math.min(ROWS, rows - r * ROWS);
            for (int p = 0; p < OUTPUT_TILES / rowTiles; p++) {
                bytes[48 + r * (OUTPUT_TILES / rowTiles) + p] = height;
            }
            bytes[48 + OUTPUT_TILES + r] = height;
        }
        if (isSplit && rowTiles == 1) {
            bytes[48 + OUTPUT_TILES + 1] = bytes[48 + OUTPUT_TILES];
        }
        return bytes;
    }

    private Tile output(int r, int p) {
        return new Tile(r * (OUTPUT_TILES / rowTiles) + p);
    }

    private static Tile x(int r) {
        return new Tile(OUTPUT_TILES + r);
    }

    private Tile w(int p) {
        int first = OUTPUT_TILES + (isSplit ? 2 : rowTiles);
        return new Tile(isSplit ? first : first + p % (TILES - first));
    }

    private static Memory argument(int offset) {
        return at(ARGUMENTS, offset);
    }

    private void routine() {
        for (General register : SAVED) {
            code.push(register);
        }
        code.load(OTHER, argument(CONFIGURATION));
        code.emit(Opcode.LDTILECFG, at(OTHER, 0));
        code.load(X_STRIDE, argument(STRIDE));
        code.set(W_STRIDE, LINE);
        code.load(GROUPS_LEFT, argument(GROUPS));
        Label next = code.here();
        group();
        code.add(GROUPS_LEFT, -1);
        code.jumpIfNotZero(next);
        code.emit(Opcode.TILERELEASE);
        for (int i = SAVED.length - 1; i >= 0; i--) {
            code.pop(SAVED[i]);
        }
        code.ret();
    }

    private void group() {
        begin();
        code.load(X[0], argument(INPUT));
        if (rowTiles == 2) {
            below(X[1], X[0], X_STRIDE);
        }
        code.load(OTHER, argument(PANEL_BYTES));
        code.load(W[0], argument(WEIGHTS));
        for (int p = 1; p < panels; p++) {
            code.move(W[p], W[p - 1]);
            code.add(W[p], OTHER);
        }
        code.load(STEPS_LEFT, argument(STEPS));
        Label next = code.here();
        if (!isSplit) {
            step();
        } else if (rowTiles == 1) {
            splitRows();
        } else {
            splitTwice();
        }
        code.add(STEPS_LEFT, -1);
        code.jumpIfNotZero(next);
        end();
        code.load(OTHER, argument(PANEL_BYTES));
        code.load(W[0], argument(WEIGHTS));
        for (int p = 0; p < panels; p++) {
            code.add(W[0], OTHER);
        }
        code.store(argument(WEIGHTS), W[0]);
    }

    /** The row that is a tile's height below another. */
    private void below(General target, General source, General stride) {
        code.address(target, at(source, stride, 8, 0));
        code.address(target, at(target, stride, 8, 0));
    }

    /** Tiles of outputs: zeros, or what is there. */
    private void begin() {
        Label zeros = code.label();
        Label done = code.label();
        code.load(OTHER, argument(CONTINUES));
        code.compare(OTHER, 0);
        code.jumpIfZero(zeros);
        outputs(Opcode.TILELOADD);
        code.jump(done);
        code.bind(zeros);
        for (int r = 0; r < rowTiles; r++) {
            for (int p = 0; p < panels; p++) {
                code.emit(Opcode.TILEZERO, output(r, p));
            }
        }
        code.bind(done);
    }

    private void end() {
        outputs(Opcode.TILESTORED);
        code.load(W[0], argument(OUTPUT));
        code.add(W[0], panels * LINE);
        code.store(argument(OUTPUT), W[0]);
    }

    private void outputs(Opcode opcode) {
        code.load(OTHER, argument(OUTPUT_STRIDE));
        code.load(W[0], argument(OUTPUT));
        for (int r = 0; r < rowTiles; r++) {
            if (r > 0) {
                below(W[0], W[0], OTHER);
            }
            for (int p = 0; p < panels; p++) {
                Memory place = at(W[0], OTHER, 1, p * LINE);
                if (opcode == Opcode.TILELOADD) {
                    code.emit(opcode, output(r, p), place);
                } else {
                    code.emit(opcode, place, output(r, p));
                }
            }
        }
    }

    private void step() {
        for (int r = 0; r < rowTiles; r++) {
            code.emit(Opcode.TILELOADD, x(r), at(X[r], X_STRIDE, 1, 0));
            code.add(X[r], LINE);
        }
        for (int p = 0; p < panels; p++) {
            code.emit(Opcode.TILELOADD, w(p), at(W[p], W_STRIDE, 1, 0));
            if (rowTiles == 1) {
                fetch(p, ROWS);
            }
            code.add(W[p], TILE_BYTES);
            for (int r = 0; r < rowTiles; r++) {
                code.emit(Opcode.TDPBF16PS, output(r, p), x(r), w(p));
            }
        }
    }

    /** One tile of rows may stream weights from memory; two of them find weights in the cache. */
    private void fetch(int p, int lines) {
        for (int line = 0; line < lines; line++) {
            code.prefetch(at(W[p], PREFETCH_BYTES + line * LINE));
        }
    }

    /** A step of one tile of split rows. */
    private void splitRows() {
        Tile rounded = x(0);
        Tile left = x(1);
        code.emit(Opcode.TILELOADD, rounded, at(X[0], X_STRIDE, 1, 0));
        code.emit(Opcode.TILELOADD, left, at(X[0], X_STRIDE, 1, LINE));
        code.add(X[0], 2 * LINE);
        for (int p = 0; p < panels; p++) {
            code.emit(Opcode.TILELOADD, w(0), at(W[p], W_STRIDE, 1, TILE_BYTES));
            code.emit(Opcode.TDPBF16PS, output(0, p), rounded, w(0));
            code.emit(Opcode.TILELOADD, w(0), at(W[p], W_STRIDE, 1, 0));
            fetch(p, 2 * ROWS);
            code.add(W[p], 2 * TILE_BYTES);
            code.emit(Opcode.TDPBF16PS, output(0, p), rounded, w(0));
            code.emit(Opcode.TDPBF16PS, output(0, p), left, w(0));
        }
    }

    /**
     * A step of two tiles of split rows: each part takes the place of the one that is done with. The same lines of the panel after
     * this one come nearer meanwhile.
     */
    private void splitTwice() {
        splitX(0);
        splitProducts(TILE_BYTES, 0);
        splitProducts(0, 1);
        splitX(LINE);
        splitProducts(2);
        for (int r = 0; r < rowTiles; r++) {
            code.add(X[r], 2 * LINE);
        }
        code.add(W[0], 2 * TILE_BYTES);
    }

    private void splitX(int from) {
        for (int r = 0; r < rowTiles; r++) {
            code.emit(Opcode.TILELOADD, x(r), at(X[r], X_STRIDE, 1, from));
        }
    }

    private void splitProducts(int from, int part) {
        code.emit(Opcode.TILELOADD, w(0), at(W[0], W_STRIDE, 1, from));
        splitProducts(part);
    }

    private void splitProducts(int part) {
        for (int r = 0; r < rowTiles; r++) {
            code.emit(Opcode.TDPBF16PS, output(r, 0), x(r), w(0));
            int product = part * rowTiles + r;
            for (int line = product * SPLIT_LINES / PRODUCTS; line < (product + 1) * SPLIT_LINES / PRODUCTS; line++) {
                code.prefetch(at(W[0], OTHER, 1, line * LINE)); // there, the distance to the next panel
            }
        }
    }
}
