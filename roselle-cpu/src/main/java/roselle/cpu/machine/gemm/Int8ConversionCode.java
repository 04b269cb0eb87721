package roselle.cpu.machine.gemm;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static roselle.cpu.machine.assembler.Operand.at;
import static roselle.cpu.machine.assembler.Operand.ymm;
import static roselle.cpu.machine.assembler.Operand.zmm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import roselle.cpu.machine.assembler.Assembler;
import roselle.cpu.machine.assembler.Assembler.Label;
import roselle.cpu.machine.assembler.Opcode;
import roselle.cpu.machine.assembler.Operand.General;
import roselle.cpu.machine.assembler.Operand.Vector;
import roselle.cpu.machine.panel.ConversionCode;

/**
 * Writes the conversion of a row of activations to blocks of 32 signed bytes with a scale: the largest number is 127 or -127.
 *
 * <p>A block is the scale s, then -8 and -128 times the sum of its bytes, which is what a product begins with where codes
 * of weights are moved by 8 or 128 to be unsigned, then s times the sum, then the bytes in the order of the weights' codes.
 * {@link Int8Gemm} is the scalar twin.
 */
final class Int8ConversionCode {
    static final int BLOCK_BYTES = 48;
    static final int SCALE = 0;
    static final int MINUS_8_SUMS = 4;
    static final int MINUS_128_SUMS = 8;
    static final int SCALED_SUM = 12;
    static final int BYTES = 16;

    // tables, for products too
    static final int OUTPUTS_TOGETHER = 0;
    static final int CODES_TOGETHER = 64;
    static final int UPPER_BITS = 128;
    static final int LOWER_NIBBLES = 192;
    private static final int ROTATIONS = 256;
    private static final int PLAIN_ORDER = 512;
    private static final int NIBBLE_ORDER = 576;
    private static final int NO_SIGNS = 640;
    private static final int PART_OF_127 = 704;
    private static final int ALL_127 = 708;
    private static final int LEAST = 712;
    static final int QUARTERS_TOGETHER = 768; // the rest for vectors of 256 bits
    static final int ONES = 800;
    private static final int NARROW_ROTATIONS = 832;
    private static final int PACKED_ORDER = 928;
    private static final int NARROW_NIBBLE_ORDER = 960;
    private static final int TABLE_BYTES = 1024;

    private static final int[] ORDER = {0, 4, 1, 5, 2, 6, 3, 7};

    private static final General FROM = General.RSI;
    private static final General TO = General.RDX;
    private static final General LEFT = General.R8;
    private static final General TABLES = General.RAX;

    private Int8ConversionCode() {}

    static MemorySegment tables(Arena arena) {
        MemorySegment tables = arena.allocate(TABLE_BYTES, 64);
        for (int i = 0; i < 16; i++) {
            tables.setAtIndex(JAVA_INT, OUTPUTS_TOGETHER / 4 + i, i % 4 * 4 + i / 4);
            tables.setAtIndex(JAVA_INT, PLAIN_ORDER / 4 + i, i);
            tables.setAtIndex(JAVA_INT, NIBBLE_ORDER / 4 + i, i / 8 * 8 + ORDER[i % 8]);
            tables.setAtIndex(JAVA_INT, NO_SIGNS / 4 + i, Integer.MAX_VALUE);
        }
        for (int i = 0; i < 64; i++) {
            tables.set(JAVA_BYTE, CODES_TOGETHER + i, (byte) (i % 4 * 4 + i % 16 / 4));
            tables.set(JAVA_BYTE, UPPER_BITS + i, (byte) 0x80);
            tables.set(JAVA_BYTE, LOWER_NIBBLES + i, (byte) 0x0F);
            tables.setAtIndex(JAVA_INT, ROTATIONS / 4 + i, (i + (8 >> (i / 16))) % 16);
        }
        int[] quarters = {0, 4, 2, 6, 1, 5, 3, 7};
        for (int i = 0; i < 8; i++) {
            tables.setAtIndex(JAVA_INT, QUARTERS_TOGETHER / 4 + i, quarters[i]);
            tables.setAtIndex(JAVA_INT, ONES / 4 + i, 0x10001);
            tables.setAtIndex(JAVA_INT, PACKED_ORDER / 4 + i, ORDER[i]);
        }
        for (int i = 0; i < 24; i++) {
            tables.setAtIndex(JAVA_INT, NARROW_ROTATIONS / 4 + i, (i + (4 >> (i / 8))) % 8);
        }
        for (int i = 0; i < 32; i++) {
            tables.set(JAVA_BYTE, NARROW_NIBBLE_ORDER + i, (byte) (i % 16 / 8 * 8 + ORDER[i % 8]));
        }
        tables.set(JAVA_INT, LEAST, -127);
        tables.set(JAVA_FLOAT, PART_OF_127, 1f / 127);
        tables.set(JAVA_FLOAT, ALL_127, 127f);
        return tables;
    }

    /** The routine for weights whose codes lie in nibbles, or in bytes. */
    static byte[] of(boolean isForNibbles) {
        var code = new Assembler();
        code.load(FROM, at(General.RDI, ConversionCode.SOURCE));
        code.load(TO, at(General.RDI, ConversionCode.TARGET));
        code.load(LEFT, at(General.RDI, ConversionCode.BLOCKS));
        code.load(TABLES, at(General.RDI, ConversionCode.TABLES));
        for (int i = 0; i < 4; i++) {
            code.emit(Opcode.VMOVUPS, zmm(28 + i), at(TABLES, ROTATIONS + 64 * i));
        }
        code.emit(Opcode.VMOVUPS, zmm(27), at(TABLES, NO_SIGNS));
        code.emit(Opcode.VMOVUPS, zmm(26), at(TABLES, isForNibbles ? NIBBLE_ORDER : PLAIN_ORDER));
        code.emit(Opcode.VBROADCASTSS, zmm(25), at(TABLES, PART_OF_127));
        code.emit(Opcode.VBROADCASTSS, zmm(24), at(TABLES, ALL_127));
        code.emit(Opcode.VPXORD, zmm(23), zmm(23), zmm(23));
        code.emit(Opcode.VBROADCASTSS, zmm(22), at(TABLES, LEAST));
        Label next = code.here();
        block(code);
        code.add(FROM, 128);
        code.add(TO, BLOCK_BYTES);
        code.add(LEFT, -1);
        code.jumpIfNotZero(next);
        code.ret();
        return code.bytes();
    }

    private static void block(Assembler code) {
        Vector[] x = {zmm(0), zmm(1)};
        Vector most = zmm(2);
        Vector other = zmm(3);
        Vector scale = zmm(4);
        Vector sum = zmm(6);
        code.emit(Opcode.VMOVUPS, x[0], at(FROM, 0));
        code.emit(Opcode.VMOVUPS, x[1], at(FROM, 64));
        code.emit(Opcode.VPANDD, most, x[0], zmm(27));
        code.emit(Opcode.VPANDD, other, x[1], zmm(27));
        code.emit(Opcode.VPMAXSD, most, most, other); // as numbers, and NaN is more than infinity
        turn(code, Opcode.VPMAXSD, most, other);
        code.emit(Opcode.VMULPS, scale, most, zmm(25));
        code.emit(Opcode.VDIVPS, zmm(5), zmm(24), most);
        for (Vector each : x) {
            code.emit(Opcode.VMULPS, each, each, zmm(5));
            code.emit(Opcode.VCVTPS2DQ, each, each);
            code.emit(Opcode.VPMAXSD, each, each, zmm(22)); // what is no number is the least integer before
        }
        code.emit(Opcode.VPADDD, sum, x[0], x[1]);
        turn(code, Opcode.VPADDD, sum, other);
        store(code, SCALE, 4);
        code.shift(Opcode.VPSLLD, zmm(7), sum, 3);
        code.emit(Opcode.VPSUBD, zmm(7), zmm(23), zmm(7));
        store(code, MINUS_8_SUMS, 7);
        code.shift(Opcode.VPSLLD, zmm(7), sum, 7);
        code.emit(Opcode.VPSUBD, zmm(7), zmm(23), zmm(7));
        store(code, MINUS_128_SUMS, 7);
        code.emit(Opcode.VCVTDQ2PS, zmm(7), sum);
        code.emit(Opcode.VMULPS, zmm(7), zmm(7), scale);
        store(code, SCALED_SUM, 7);
        for (int i = 0; i < 2; i++) {
            code.emit(Opcode.VPERMD, x[i], zmm(26), x[i]);
            code.emit(Opcode.VPMOVSDB, at(TO, BYTES + 16 * i), x[i]);
        }
    }

    /** Brings what an operation makes of all lanes to each of them. */
    private static void turn(Assembler code, Opcode operation, Vector all, Vector other) {
        for (int i = 0; i < 4; i++) {
            code.emit(Opcode.VPERMD, other, zmm(28 + i), all);
            code.emit(operation, all, all, other);
        }
    }

    /** Stores a number; those behind it are written later. */
    private static void store(Assembler code, int place, int register) {
        code.emit(Opcode.VMOVUPS_STORE, at(TO, place), new Vector(register, 128));
    }

    /** The same with AVX2 alone. */
    static byte[] narrow(boolean isForNibbles) {
        var code = new Assembler();
        code.load(FROM, at(General.RDI, ConversionCode.SOURCE));
        code.load(TO, at(General.RDI, ConversionCode.TARGET));
        code.load(LEFT, at(General.RDI, ConversionCode.BLOCKS));
        code.load(TABLES, at(General.RDI, ConversionCode.TABLES));
        code.emit(Opcode.VPXORD, ymm(15), ymm(15), ymm(15));
        Label next = code.here();
        narrowBlock(code, isForNibbles);
        code.add(FROM, 128);
        code.add(TO, BLOCK_BYTES);
        code.add(LEFT, -1);
        code.jumpIfNotZero(next);
        code.ret();
        return code.bytes();
    }

    private static void narrowBlock(Assembler code, boolean isForNibbles) {
        Vector[] x = {ymm(0), ymm(1), ymm(2), ymm(3)};
        Vector most = ymm(4);
        Vector other = ymm(5);
        Vector scale = ymm(6);
        Vector sum = ymm(7);
        Vector inverse = ymm(8);
        for (int i = 0; i < 4; i++) {
            code.emit(Opcode.VMOVUPS, x[i], at(FROM, 32 * i));
            code.emit(Opcode.VPANDD, i == 0 ? most : other, x[i], at(TABLES, NO_SIGNS));
            if (i > 0) {
                code.emit(Opcode.VPMAXSD, most, most, other);
            }
        }
        narrowTurn(code, Opcode.VPMAXSD, most, other);
        code.emit(Opcode.VBROADCASTSS, other, at(TABLES, PART_OF_127));
        code.emit(Opcode.VMULPS, scale, most, other);
        code.emit(Opcode.VBROADCASTSS, other, at(TABLES, ALL_127));
        code.emit(Opcode.VDIVPS, inverse, other, most);
        code.emit(Opcode.VBROADCASTSS, other, at(TABLES, LEAST));
        for (Vector each : x) {
            code.emit(Opcode.VMULPS, each, each, inverse);
            code.emit(Opcode.VCVTPS2DQ, each, each);
            code.emit(Opcode.VPMAXSD, each, each, other);
        }
        code.emit(Opcode.VPADDD, sum, x[0], x[1]);
        code.emit(Opcode.VPADDD, sum, sum, x[2]);
        code.emit(Opcode.VPADDD, sum, sum, x[3]);
        narrowTurn(code, Opcode.VPADDD, sum, other);
        store(code, SCALE, scale.number());
        code.shift(Opcode.VPSLLD, other, sum, 3);
        code.emit(Opcode.VPSUBD, other, ymm(15), other);
        store(code, MINUS_8_SUMS, other.number());
        code.shift(Opcode.VPSLLD, other, sum, 7);
        code.emit(Opcode.VPSUBD, other, ymm(15), other);
        store(code, MINUS_128_SUMS, other.number());
        code.emit(Opcode.VCVTDQ2PS, other, sum);
        code.emit(Opcode.VMULPS, other, other, scale);
        store(code, SCALED_SUM, other.number());
        code.emit(Opcode.VPACKSSDW, x[0], x[0], x[1]);
        code.emit(Opcode.VPACKSSDW, x[2], x[2], x[3]);
        code.emit(Opcode.VPACKSSWB, x[0], x[0], x[2]); // fours of each in turns
        code.emit(Opcode.VMOVUPS, other, at(TABLES, PACKED_ORDER));
        code.emit(Opcode.VPERMD, x[0], other, x[0]);
        if (isForNibbles) {
            code.emit(Opcode.VPSHUFB, x[0], x[0], at(TABLES, NARROW_NIBBLE_ORDER));
        }
        code.emit(Opcode.VMOVUPS_STORE, at(TO, BYTES), x[0]);
    }

    private static void narrowTurn(Assembler code, Opcode operation, Vector all, Vector other) {
        for (int i = 0; i < 3; i++) {
            code.emit(Opcode.VMOVUPS, other, at(TABLES, NARROW_ROTATIONS + 32 * i));
            code.emit(Opcode.VPERMD, other, other, all);
            code.emit(operation, all, all, other);
        }
    }
}
