package roselle.cpu.machine.panel;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static roselle.cpu.machine.assembler.Operand.at;
import static roselle.cpu.machine.assembler.Operand.zmm;
import static roselle.cpu.machine.panel.TileFrame.TO;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import roselle.cpu.machine.Compute;
import roselle.cpu.machine.assembler.Assembler;
import roselle.cpu.machine.assembler.Assembler.Label;
import roselle.cpu.machine.assembler.Opcode;
import roselle.cpu.machine.assembler.Operand.General;
import roselle.cpu.machine.assembler.Operand.Vector;
import roselle.tensor.BlockFields;
import roselle.tensor.DataType;

/**
 * Writes what brings sixteen rows of blocks, as checkpoints have them, into a panel: codes, scales and minima.
 *
 * <p>Lines of rows are turned around, so that a register has four bytes of each output; what is left is to bring bytes and
 * bits to their places in a lane. Codes go around the caches, since nobody reads them soon, to whole lines. Rows are read up
 * to a line beyond a block. {@link PanelPacker} is the scalar twin.
 */
final class PanelCode {
    private static final List<DataType> ROUTINES = List.of(
            DataType.Q8_0, DataType.Q4_0, DataType.Q4_1, DataType.Q5_0, DataType.Q5_1, DataType.Q4_K, DataType.Q6_K);

    /** Bytes before a row that are read, where a block's scale comes first and its codes lie in words behind it. */
    static final int BEFORE = 2;

    private static final General SCALES = General.RBX;
    private static final General MINIMA = General.RBP;
    private static final General TABLE = General.R12;
    private static final General[] SAVED = {SCALES, MINIMA, TABLE};

    private static final int LINE = 64;
    private static final int WORDS = Transposition.LINES;

    // of the tables, in lines
    private static final int BYTES_OF_FOUR = 0;
    private static final int FOURS_IN_ORDER = 1;
    private static final int LOWER_NIBBLES = 2;
    private static final int EVEN_BYTES = 3;
    private static final int ODD_BYTES = 4;
    private static final int SIX_BITS = 5;
    private static final int BITS_4_AND_5 = 6;
    private static final int FIRST_PAIR = 7;
    private static final int SECOND_PAIR = 8;
    private static final int BITS_12_AND_13 = 9;
    private static final int BITS_14_AND_15 = 10;
    static final int HALVES = 11;
    private static final int SIGNS = 12;
    private static final int BITS_4_TO_7 = 13;
    private static final int BIT_4_OF_BYTES = 14;
    private static final int TABLES = 15;

    private final TileFrame frame;
    private final Assembler code;

    private PanelCode(DataType type) {
        Panel panel = Panel.of(type, Compute.F32).orElseThrow();
        frame = new TileFrame();
        code = frame.code();
        for (General register : SAVED) {
            code.push(register);
        }
        code.load(SCALES, at(General.RDI, TileCode.SCALES));
        code.load(MINIMA, at(General.RDI, TileCode.MINIMA));
        code.load(TABLE, at(General.RDI, TileCode.TABLES));
        Label next = frame.rows();
        switch (type) {
            case Q8_0 -> bytes();
            case Q4_0 -> nibbles();
            case Q4_1 -> nibblesWithMinimum();
            case Q5_0 -> fiveBits();
            case Q5_1 -> fiveBitsWithMinimum();
            case Q4_K -> nibblesWithMinima();
            case Q6_K -> sixBits();
            default -> throw new IllegalArgumentException("there is no routine for blocks of " + type.label());
        }
        code.add(SCALES, panel.scaleBytes());
        code.add(MINIMA, panel.minimumBytes());
        frame.endLoop(next);
        for (int i = SAVED.length - 1; i >= 0; i--) {
            code.pop(SAVED[i]);
        }
        code.sfence();
        code.ret();
    }

    /** The routines: one for each way in which the fields of blocks lie. */
    static List<byte[]> routines() {
        return ROUTINES.stream().map(type -> new PanelCode(type).code.bytes()).toList();
    }

    /** Which routine brings blocks of a type into panels; less than nothing where Java does. */
    static int routine(DataType type) {
        for (int i = 0; i < ROUTINES.size(); i++) {
            BlockFields fields = ROUTINES.get(i).fields().orElseThrow();
            if (type.fields().filter(fields::lieAs).isPresent()) {
                return i;
            }
        }
        return -1;
    }

    /** How many bytes before a row of blocks the routine begins to read. */
    static int before(DataType type) {
        int codesAt = type.fields().orElseThrow().codes().planes().getFirst().at();
        return codesAt % Integer.BYTES == Short.BYTES ? BEFORE : 0;
    }

    /** A block of Q8_0: a scale, 32 bytes. */
    private void bytes() {
        Transposition.load(code, 0);
        scales();
        loadTable(zmm(30), BYTES_OF_FOUR);
        loadTable(zmm(31), FOURS_IN_ORDER);
        for (int word = 0; word < 8; word++) {
            apart(zmm(1 + word));
            code.emit(Opcode.VMOVNTPS, at(TO, word * LINE), zmm(1 + word));
        }
        frame.advance(34, 8 * LINE);
    }

    /** A block of Q4_0 or IQ4_NL: a scale, 16 bytes of two codes. */
    private void nibbles() {
        Transposition.load(code, 0);
        scales();
        loadNibbleTables();
        nibbles(1, 2, 2, 0);
        frame.advance(18, 4 * LINE);
    }

    /** A block of Q4_1: a scale, a minimum, which is added, 16 bytes of two codes. */
    private void nibblesWithMinimum() {
        Transposition.load(code, 0);
        scalesAndMinima();
        loadNibbleTables();
        nibbles(1, 2, 2, 0);
        frame.advance(20, 4 * LINE);
    }

    /** A block of Q5_0: a scale, the fifth bits of 32 codes, 16 bytes of two codes' lower bits. */
    private void fiveBits() {
        Transposition.load(code, 0);
        scales();
        fiveBitCodes();
        frame.advance(22, 6 * LINE);
    }

    /** A block of Q5_1: a scale, a minimum, which is added, the fifth bits of 32 codes, 16 bytes of two codes' lower bits. */
    private void fiveBitsWithMinimum() {
        Transposition.load(code, 0);
        scalesAndMinima();
        fiveBitCodes();
        frame.advance(24, 6 * LINE);
    }

    /** Writes 32 codes of each output, whose fifth bits word 1 has, and whose lower ones the next four. */
    private void fiveBitCodes() {
        loadSixBitTables();
        Vector fourBits = zmm(8);
        Vector fifthOfBytes = zmm(9);
        loadTable(fourBits, BITS_4_TO_7);
        loadTable(fifthOfBytes, BIT_4_OF_BYTES);
        for (int half = 0; half < 2; half++) {
            for (int i = 0; i < 4; i++) {
                Vector codes = zmm(24);
                Vector fifths = zmm(25);
                int first = half * 16 + i * 4; // of four numbers of k
                if (first < 4) {
                    code.shift(Opcode.VPSLLD, fifths, zmm(1), 4 - first);
                } else {
                    code.shift(Opcode.VPSRLD, fifths, zmm(1), first - 4);
                }
                code.emit(Opcode.VPANDD, fifths, fifths, fourBits);
                orShifted(fifths, codes, 7);
                orShifted(fifths, codes, 14);
                code.emit(Opcode.VPANDD, fifths, fifths, fifthOfBytes);
                lowerBits(codes, zmm(2 + i), half);
                code.emit(Opcode.VPORD, codes, codes, fifths);
                pairs(codes, i);
            }
            sixteen(half * 3 * LINE);
        }
    }

    /** Brings what is in a word into it once more, some bits higher. */
    private void orShifted(Vector word, Vector between, int bits) {
        code.shift(Opcode.VPSLLD, between, word, bits);
        code.emit(Opcode.VPORD, word, word, between);
    }

    /** A super-block of Q4_K: a scale, a minimum, 12 bytes of factors for both, 128 bytes of two codes. */
    private void nibblesWithMinima() {
        Transposition.loadFive(code, 0);
        code.emit(Opcode.VPMOVDW, at(SCALES, 0), zmm(0));
        code.shift(Opcode.VPSRLD, zmm(0), zmm(0), 16);
        code.emit(Opcode.VPMOVDW, at(MINIMA, 0), zmm(0));
        loadTable(zmm(28), LOWER_NIBBLES);
        loadTable(zmm(29), BITS_4_AND_5);
        loadTable(zmm(30), BYTES_OF_FOUR);
        loadTable(zmm(31), FOURS_IN_ORDER);
        factors(zmm(1), SCALES, 0);
        factors(zmm(2), MINIMA, 4);
        Transposition.load(code, 16);
        loadNibbleTables();
        nibbles(0, 8, 4, 0);
        Transposition.load(code, 16 + LINE);
        loadNibbleTables();
        nibbles(0, 8, 4, WORDS * LINE);
        frame.advance(144, 2 * WORDS * LINE);
    }

    /** Six bits of each of the first four blocks, and their upper two bits for the next four, whose lower ones word 3 has. */
    private void factors(Vector word, General target, int shift) {
        Vector next = zmm(16);
        Vector upper = zmm(17);
        code.shift(Opcode.VPSRLD, next, zmm(3), shift);
        code.emit(Opcode.VPANDD, next, next, zmm(28));
        code.shift(Opcode.VPSRLD, upper, word, 2);
        code.emit(Opcode.VPANDD, upper, upper, zmm(29));
        code.emit(Opcode.VPORD, next, next, upper);
        code.emit(Opcode.VPANDD, word, word, at(TABLE, SIX_BITS * LINE));
        apart(word);
        apart(next);
        code.emit(Opcode.VMOVUPS_STORE, at(target, 32), word);
        code.emit(Opcode.VMOVUPS_STORE, at(target, 32 + LINE), next);
    }

    /** A super-block of Q6_K: 128 bytes of two codes' lower bits, 64 of four codes' upper ones, 16 factors, a scale. */
    private void sixBits() {
        Transposition.loadFive(code, 192);
        code.emit(Opcode.VPMOVDW, at(SCALES, 0), zmm(4));
        loadTable(zmm(30), BYTES_OF_FOUR);
        loadTable(zmm(31), FOURS_IN_ORDER);
        for (int word = 0; word < 4; word++) {
            apart(zmm(word));
            code.emit(Opcode.VMOVUPS_STORE, at(SCALES, 32 + word * LINE), zmm(word));
        }
        Transposition.load(code, 128);
        for (int word = 0; word < WORDS; word++) {
            code.emit(Opcode.VMOVUPS_STORE, at(General.RDI, TileCode.SCRATCH + word * LINE), zmm(word));
        }
        for (int half = 0; half < 2; half++) {
            Transposition.load(code, half * LINE);
            loadSixBitTables();
            for (int block = 0; block < 8; block++) {
                sixBits(half, block);
            }
        }
        frame.advance(210, 48 * LINE);
    }

    /** Sixteen codes of each output. */
    private void sixBits(int half, int block) {
        int group = block / 2; // of 32 numbers of k
        for (int i = 0; i < 4; i++) {
            int word = block % 2 * 4 + i;
            Vector codes = zmm(24);
            Vector upper = zmm(25);
            lowerBits(codes, zmm(group % 2 * 8 + word), group / 2);
            code.emit(Opcode.VMOVUPS, upper, at(General.RDI, TileCode.SCRATCH + (half * 8 + word) * LINE));
            switch (group) {
                case 0 -> code.shift(Opcode.VPSLLD, upper, upper, 4);
                case 1 -> code.shift(Opcode.VPSLLD, upper, upper, 2);
                case 2 -> {} // they are where they belong
                default -> code.shift(Opcode.VPSRLD, upper, upper, 2);
            }
            code.emit(Opcode.VPANDD, upper, upper, zmm(27));
            code.emit(Opcode.VPORD, codes, codes, upper);
            pairs(codes, i);
        }
        sixteen((half * 8 + block) * 3 * LINE);
    }

    private void loadSixBitTables() {
        loadTable(zmm(26), LOWER_NIBBLES);
        loadTable(zmm(27), BITS_4_AND_5);
        loadTable(zmm(28), FIRST_PAIR);
        loadTable(zmm(29), SECOND_PAIR);
        loadTable(zmm(30), BITS_12_AND_13);
        loadTable(zmm(31), BITS_14_AND_15);
    }

    /** The lower or the upper nibbles of bytes. */
    private void lowerBits(Vector codes, Vector bytes, int upper) {
        if (upper == 0) {
            code.emit(Opcode.VPANDD, codes, bytes, zmm(26));
        } else {
            code.shift(Opcode.VPSRLD, codes, bytes, 4);
            code.emit(Opcode.VPANDD, codes, codes, zmm(26));
        }
    }

    /** Makes two pairs of each four codes, which are the {@code i}th of sixteen. */
    private void pairs(Vector codes, int i) {
        code.emit(Opcode.VPSHUFB, zmm(16 + 2 * i), codes, zmm(28));
        code.emit(Opcode.VPSHUFB, zmm(17 + 2 * i), codes, zmm(29));
    }

    /** Writes sixteen codes of each output, six bits each, of which the pairs are there. */
    private void sixteen(int to) {
        join(zmm(16), zmm(17), 6);
        join(zmm(16), zmm(18), 12);
        code.emit(Opcode.VMOVNTPS, at(TO, to), zmm(16));
        join(zmm(19), zmm(20), 6);
        join(zmm(19), zmm(21), 12);
        code.emit(Opcode.VMOVNTPS, at(TO, to + LINE), zmm(19));
        join(zmm(22), zmm(23), 6);
        join(zmm(22), zmm(18), 8, zmm(30));
        join(zmm(22), zmm(21), 10, zmm(31));
        code.emit(Opcode.VMOVNTPS, at(TO, to + 2 * LINE), zmm(22));
    }

    /** Adds numbers of 16 bits, moved up by some bits. */
    private void join(Vector sum, Vector numbers, int bits) {
        code.shift(Opcode.VPSLLW, zmm(24), numbers, bits);
        code.emit(Opcode.VPORD, sum, sum, zmm(24));
    }

    private void join(Vector sum, Vector numbers, int bits, Vector mask) {
        code.shift(Opcode.VPSLLW, zmm(24), numbers, bits);
        code.emit(Opcode.VPANDD, zmm(24), zmm(24), mask);
        code.emit(Opcode.VPORD, sum, sum, zmm(24));
    }

    /** Stores the scales, which are the lower halves of the first word, and the minima, which are the upper ones and are added. */
    private void scalesAndMinima() {
        code.emit(Opcode.VPMOVDW, at(SCALES, 0), zmm(0));
        code.shift(Opcode.VPSRLD, zmm(0), zmm(0), 16);
        code.emit(Opcode.VPXORD, zmm(0), zmm(0), at(TABLE, SIGNS * LINE));
        code.emit(Opcode.VPMOVDW, at(MINIMA, 0), zmm(0));
    }

    /** Stores the scales, which are the upper halves of the first word. */
    private void scales() {
        code.shift(Opcode.VPSRLD, zmm(0), zmm(0), 16);
        code.emit(Opcode.VPMOVDW, at(SCALES, 0), zmm(0));
    }

    private void loadTable(Vector register, int table) {
        code.emit(Opcode.VMOVUPS, register, at(TABLE, table * LINE));
    }

    /** Turns four bytes of each of sixteen outputs into four times a byte of each. */
    private void apart(Vector word) {
        code.emit(Opcode.VPSHUFB, word, word, zmm(30));
        code.emit(Opcode.VPERMD, word, zmm(31), word);
    }

    private void loadNibbleTables() {
        loadTable(zmm(29), LOWER_NIBBLES);
        loadTable(zmm(30), EVEN_BYTES);
        loadTable(zmm(31), ODD_BYTES);
    }

    /**
     * Writes the nibbles of pairs of words, eight bytes of each output: the lower ones of a group of pairs are the numbers
     * before the upper ones.
     */
    private void nibbles(int first, int pairs, int group, int to) {
        for (int pair = 0; pair < pairs; pair++) {
            int line = pair / group * 2 * group + pair % group;
            Vector even = zmm(first + 2 * pair);
            Vector odd = zmm(first + 2 * pair + 1);
            paired(even, odd, to + line * LINE);
            code.shift(Opcode.VPSRLD, even, even, 4);
            code.shift(Opcode.VPSRLD, odd, odd, 4);
            paired(even, odd, to + (line + group) * LINE);
        }
    }

    /** The lower nibbles of four and four bytes: those of the even bytes, then those of the odd ones. */
    private void paired(Vector first, Vector second, int to) {
        fourths(zmm(16), first, zmm(30));
        fourths(zmm(18), second, zmm(31));
        code.emit(Opcode.VPORD, zmm(16), zmm(16), zmm(18));
        code.emit(Opcode.VMOVNTPS, at(TO, to), zmm(16));
    }

    /** Brings the nibbles of bytes 0 and 2 into one byte, those of 1 and 3 into the next, then each to its place. */
    private void fourths(Vector target, Vector bytes, Vector places) {
        code.emit(Opcode.VPANDD, target, bytes, zmm(29));
        code.shift(Opcode.VPSRLD, zmm(17), target, 12);
        code.emit(Opcode.VPORD, target, target, zmm(17));
        code.emit(Opcode.VPSHUFB, target, target, places);
    }

    /** What the routines read beside rows. */
    static MemorySegment tables(Arena arena) {
        MemorySegment tables = arena.allocate((long) TABLES * LINE, LINE);
        for (int i = 0; i < LINE; i++) {
            tables.set(JAVA_BYTE, BYTES_OF_FOUR * LINE + i, (byte) (i % 4 * 4 + i % 16 / 4));
        }
        for (int i = 0; i < WORDS; i++) {
            word(tables, FOURS_IN_ORDER, i, i % 4 * 4 + i / 4);
            word(tables, LOWER_NIBBLES, i, 0x0F0F0F0F);
            word(tables, EVEN_BYTES, i, 0x80008000 | evenBytes(i));
            word(tables, ODD_BYTES, i, 0x00800080 | evenBytes(i) << 8);
            word(tables, SIX_BITS, i, 0x3F3F3F3F);
            word(tables, BITS_4_AND_5, i, 0x30303030);
            word(tables, FIRST_PAIR, i, 0x80008000 | evenBytes(i));
            word(tables, SECOND_PAIR, i, 0x80008000 | evenBytes(i) + 0x00020002);
            word(tables, BITS_12_AND_13, i, 0x30003000);
            word(tables, BITS_14_AND_15, i, 0xC000C000);
            word(tables, SIGNS, i, 0x8000);
            word(tables, BITS_4_TO_7, i, 0xF0);
            word(tables, BIT_4_OF_BYTES, i, 0x10101010);
            int half = i % 8 * 4 + i / 8; // numbers of 16 bits: the even ones, then the odd ones
            word(tables, HALVES, i, half | (half + 2) << 16);
        }
        return tables;
    }

    private static void word(MemorySegment tables, int table, int index, int value) {
        tables.setAtIndex(JAVA_INT, table * WORDS + index, value);
    }

    /** The first two bytes of a word in its quarter of a register, a byte between them. */
    private static int evenBytes(int word) {
        int first = word % 4 * 4;
        return first | (first + 1) << 16;
    }
}
