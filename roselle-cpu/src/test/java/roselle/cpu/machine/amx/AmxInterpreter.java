package roselle.cpu.machine.amx;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;

/**
 * Runs the bytes of {@link AmxGemmCode} where the processor has no tiles: a small part of x86-64, by Intel's manual.
 *
 * <p>It is strict where a processor would fault or, worse, would not: bytes that it does not know, tiles that are not
 * configured or do not fit each other, registers and tiles that are not given back, and, when it is told the operands, tiles
 * that are loaded or stored elsewhere. Whoever stands for the processor in a test calls it from one thread at a time.
 */
public final class AmxInterpreter implements AmxKernels.Runner {
    private static final int RSP = 4;
    private static final int RDI = 7;
    private static final int[] CALLEE_SAVED = {3, RSP, 5, 12, 13, 14, 15};
    private static final int LINE = 64;
    private static final MemorySegment EVERYWHERE = everywhere();

    private final List<MemorySegment> operands;
    private final float[][][] tiles = new float[8][16][32]; // words of 32 bits, or pairs of bfloat16 as 32 numbers
    private final int[][][] words = new int[8][16][16];
    private final int[] tileRows = new int[8];
    private final int[] tileBytes = new int[8];
    private final long[] registers = new long[16];
    private final long[] stack = new long[16];
    private int depth;
    private boolean isConfigured;
    private boolean isZero;
    private MemorySegment code = MemorySegment.NULL;
    private int at;
    private long products;

    private AmxInterpreter(List<MemorySegment> operands) {
        this.operands = operands;
    }

    /** One whose tiles may be loaded and stored within these alone. */
    public static AmxInterpreter within(MemorySegment... operands) {
        return new AmxInterpreter(List.of(operands));
    }

    /** One whose tiles may be loaded and stored anywhere. */
    public static AmxInterpreter anywhere() {
        return new AmxInterpreter(List.of());
    }

    /** Kernels that it runs. */
    public AmxKernels kernels() {
        return AmxKernels.open(this).orElseThrow();
    }

    /** Kernels whose tiles do nothing. */
    public static AmxKernels idle() {
        return AmxKernels.open((code, argument) -> {}).orElseThrow();
    }

    @SuppressWarnings("restricted")
    private static MemorySegment everywhere() {
        return MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
    }

    /** How many products of tiles it has made. */
    public synchronized long products() {
        return products;
    }

    @Override
    public synchronized void run(MemorySegment routine, long argument) {
        code = routine;
        at = 0;
        depth = 0;
        isConfigured = false;
        for (int i = 0; i < registers.length; i++) {
            registers[i] = 0x5ee0_0000_0000_0000L + i; // nothing that may be relied on
        }
        long[] before = registers.clone();
        registers[RDI] = argument;
        while (step()) {}
        for (int saved : CALLEE_SAVED) {
            require(registers[saved] == before[saved], "register " + saved + " was not given back");
        }
        require(depth == 0, "the stack was not given back");
        require(!isConfigured, "the tiles were not given back");
    }

    private void require(boolean isSo, String otherwise) {
        if (!isSo) {
            throw new AssertionError("at byte " + at + ": " + otherwise);
        }
    }

    private int next() {
        return code.get(JAVA_BYTE, at++) & 0xFF;
    }

    private int next32() {
        int number = code.get(JAVA_INT_UNALIGNED, at);
        at += 4;
        return number;
    }

    /** Runs an instruction; whether another one follows. */
    private boolean step() {
        int first = next();
        if (first == 0xC4) {
            vex();
            return true;
        }
        int rex = 0;
        if ((first & 0xF0) == 0x40) {
            rex = first & 15;
            first = next();
        }
        boolean isWide = (rex & 8) != 0;
        int low = (first & 7) | (rex & 1) << 3;
        switch (first & 0xF8) {
            case 0x50 -> stack[depth++] = registers[low];
            case 0x58 -> registers[low] = stack[--depth];
            case 0xB8 -> registers[low] = next32() & 0xFFFF_FFFFL;
            default -> {
                return other(first, rex, isWide);
            }
        }
        return true;
    }

    private boolean other(int opcode, int rex, boolean isWide) {
        switch (opcode) {
            case 0xC3 -> {
                return false;
            }
            case 0xE9 -> jump(true);
            case 0x0F -> afterZeroF(rex);
            default -> {
                require(isWide, "an unknown opcode " + Integer.toHexString(opcode));
                wide(opcode, rex);
            }
        }
        return true;
    }

    private void jump(boolean isTaken) {
        int distance = next32();
        at += isTaken ? distance : 0;
    }

    private void afterZeroF(int rex) {
        int opcode = next();
        switch (opcode) {
            case 0x84 -> jump(isZero);
            case 0x85 -> jump(!isZero);
            case 0x18 -> new Place(rex);
            default -> require(false, "an unknown opcode 0f " + Integer.toHexString(opcode));
        }
    }

    private void wide(int opcode, int rex) {
        var place = new Place(rex);
        switch (opcode) {
            case 0x8B -> registers[place.field] = value(place);
            case 0x89 -> EVERYWHERE.set(JAVA_LONG_UNALIGNED, place.address(), registers[place.field]);
            case 0x8D -> registers[place.field] = place.address();
            case 0x03 -> registers[place.field] = flagged(registers[place.field] + value(place));
            case 0x81 -> {
                long number = next32();
                if ((place.field & 7) == 7) {
                    flagged(value(place) - number);
                } else {
                    require((place.field & 7) == 0 && place.isRegister, "an unknown form of 81");
                    registers[place.base] = flagged(registers[place.base] + number);
                }
            }
            default -> require(false, "an unknown opcode " + Integer.toHexString(opcode));
        }
    }

    private long flagged(long result) {
        isZero = result == 0;
        return result;
    }

    private long value(Place place) {
        return place.isRegister ? registers[place.base] : EVERYWHERE.get(JAVA_LONG_UNALIGNED, place.address());
    }

    /** ModRM, SIB and displacement; {@code bits} are those of REX: R, X and B. */
    private final class Place {
        private final int field;
        private final boolean isRegister;
        private final int base;
        private int index = -1;
        private int scale;
        private int displacement;

        Place(int bits) {
            int modRm = next();
            field = (modRm >> 3 & 7) | (bits & 4) << 1;
            int mode = modRm >> 6;
            isRegister = mode == 3;
            int low = modRm & 7;
            if (!isRegister && low == RSP) {
                int sib = next();
                low = sib & 7;
                int indexed = (sib >> 3 & 7) | (bits & 2) << 2;
                index = indexed == RSP ? -1 : indexed;
                scale = sib >> 6;
            }
            base = low | (bits & 1) << 3;
            require(mode != 0 || low != 5, "an address without a base");
            if (mode == 1) {
                displacement = (byte) next();
            } else if (mode == 2) {
                displacement = next32();
            }
        }

        long address() {
            require(!isRegister, "a register in place of an address");
            return start() + (index < 0 ? 0 : registers[index] << scale);
        }

        long start() {
            return registers[base] + displacement;
        }

        long rowStep() {
            require(index >= 0, "a tile's address without a distance of rows");
            return registers[index] << scale;
        }
    }

    private void vex() {
        int second = next();
        int third = next();
        int opcode = next();
        int bits = (~second >> 5) & 7;
        int other = (~third >> 3) & 15;
        int prefix = third & 3;
        require((second & 31) == 2 && (third & 0x84) == 0, "another map, width or length than tiles have");
        var place = new Place(bits);
        switch (opcode << 4 | prefix) {
            case 0x490 -> {
                if (place.isRegister) {
                    isConfigured = false;
                } else {
                    configure(place.address());
                }
            }
            case 0x493 -> clear(tile(place.field));
            case 0x4B3 -> load(tile(place.field), place);
            case 0x4B2 -> store(tile(place.field), place);
            case 0x5C2 -> multiply(tile(place.field), tile(place.base), tile(other));
            default -> require(false, "an unknown instruction of tiles " + Integer.toHexString(opcode));
        }
    }

    private void configure(long from) {
        MemorySegment bytes = EVERYWHERE.asSlice(from, LINE);
        require(bytes.get(JAVA_BYTE, 0) == 1 && bytes.get(JAVA_BYTE, 1) == 0, "not palette 1 from row 0 on");
        for (int i = 2; i < LINE; i++) {
            boolean isReserved = i < 16 || (i >= 32 && i < 48) || i >= 56;
            require(!isReserved || bytes.get(JAVA_BYTE, i) == 0, "reserved byte " + i + " of the configuration");
        }
        for (int tile = 0; tile < 8; tile++) {
            tileBytes[tile] = (bytes.get(JAVA_BYTE, 16 + 2 * tile) & 0xFF) | bytes.get(JAVA_BYTE, 17 + 2 * tile) << 8;
            tileRows[tile] = bytes.get(JAVA_BYTE, 48 + tile);
            require(tileBytes[tile] <= LINE && tileRows[tile] >= 0 && tileRows[tile] <= 16, "a tile too large");
            clear(tile);
        }
        isConfigured = true;
    }

    private int tile(int number) {
        require(number < 8, "tile " + number);
        return number;
    }

    private void usable(int tile) {
        require(isConfigured && tileRows[tile] > 0 && tileBytes[tile] > 0, "tile " + tile + " is not configured");
    }

    private void clear(int tile) {
        for (int row = 0; row < 16; row++) {
            Arrays.fill(words[tile][row], 0);
        }
    }

    private MemorySegment row(Place place, int row, int bytes) {
        long address = place.start() + row * place.rowStep();
        boolean isAllowed = operands.isEmpty();
        for (MemorySegment operand : operands) {
            isAllowed |= address >= operand.address() && address + bytes <= operand.address() + operand.byteSize();
        }
        require(isAllowed, "row " + row + " of a tile is not in an operand");
        return EVERYWHERE.asSlice(address, bytes);
    }

    private void load(int tile, Place place) {
        usable(tile);
        clear(tile);
        for (int row = 0; row < tileRows[tile]; row++) {
            MemorySegment source = row(place, row, tileBytes[tile]);
            for (int i = 0; i < tileBytes[tile] / 4; i++) {
                words[tile][row][i] = source.get(JAVA_INT_UNALIGNED, 4L * i);
            }
        }
    }

    private void store(int tile, Place place) {
        usable(tile);
        for (int row = 0; row < tileRows[tile]; row++) {
            MemorySegment target = row(place, row, tileBytes[tile]);
            for (int i = 0; i < tileBytes[tile] / 4; i++) {
                target.set(JAVA_FLOAT_UNALIGNED, 4L * i, Float.intBitsToFloat(words[tile][row][i]));
            }
        }
    }

    /** tdpbf16ps: even and odd products apart, from zero; then both, then the sum before. Subnormal numbers are zeros. */
    private void multiply(int sum, int first, int second) {
        usable(sum);
        usable(first);
        usable(second);
        require(sum != first && sum != second && first != second, "the same tile twice");
        boolean fits = tileRows[first] == tileRows[sum]
                && tileBytes[second] == tileBytes[sum]
                && tileBytes[first] == 4 * tileRows[second];
        require(fits, "tiles " + sum + ", " + first + ", " + second + " do not fit");
        halves(first);
        halves(second);
        float[][] a = tiles[first];
        float[][] b = tiles[second];
        int columns = tileBytes[sum] / 4;
        var partial = new float[2 * columns];
        for (int m = 0; m < tileRows[sum]; m++) {
            Arrays.fill(partial, 0);
            for (int k = 0; k < tileRows[second]; k++) {
                for (int n = 0; n < 2 * columns; n++) {
                    partial[n] = flushed(Math.fma(a[m][2 * k + n % 2], b[k][n], partial[n]));
                }
            }
            for (int n = 0; n < columns; n++) {
                float both = flushed(partial[2 * n] + partial[2 * n + 1]);
                float before = flushed(Float.intBitsToFloat(words[sum][m][n]));
                words[sum][m][n] = Float.floatToRawIntBits(flushed(before + both));
            }
        }
        products++;
    }

    private void halves(int tile) {
        for (int row = 0; row < tileRows[tile]; row++) {
            for (int i = 0; i < 16; i++) {
                int pair = words[tile][row][i];
                tiles[tile][row][2 * i] = flushed(Float.intBitsToFloat(pair << 16));
                tiles[tile][row][2 * i + 1] = flushed(Float.intBitsToFloat(pair & 0xFFFF0000));
            }
        }
    }

    private static float flushed(float value) {
        return Math.abs(value) < Float.MIN_NORMAL ? Math.copySign(0f, value) : value;
    }
}
