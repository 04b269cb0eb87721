package roselle.cpu.machine.assembler;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import roselle.cpu.machine.assembler.Operand.General;
import roselle.cpu.machine.assembler.Operand.Memory;
import roselle.cpu.machine.assembler.Operand.Register;
import roselle.cpu.machine.assembler.Operand.Tile;
import roselle.cpu.machine.assembler.Operand.Vector;

/**
 * Writes x86-64 machine code: the few instructions on general registers here, the vector and tile instructions of
 * {@link Opcode} with their VEX and EVEX prefixes, and labels.
 *
 * <p>Every form is tested against the bytes of GNU {@code as}.
 */
public final class Assembler {
    /** A place in the code that jumps lead to. */
    public static final class Label {
        private int position = -1;
        private final List<Integer> uses = new ArrayList<>();
    }

    private static final int NO_REGISTER = 0;

    private final ByteArrayOutputStream code = new ByteArrayOutputStream();
    private final List<Label> labels = new ArrayList<>();

    /** The finished code; every label that is used must have been bound. */
    public byte[] bytes() {
        byte[] bytes = code.toByteArray();
        for (Label label : labels) {
            if (label.position < 0) {
                throw new IllegalStateException("a jump leads to a label that is nowhere");
            }
            for (int use : label.uses) {
                int distance = label.position - (use + 4);
                for (int i = 0; i < 4; i++) {
                    bytes[use + i] = (byte) (distance >> (8 * i));
                }
            }
        }
        return bytes;
    }

    public Label label() {
        var label = new Label();
        labels.add(label);
        return label;
    }

    /** A label at this place. */
    public Label here() {
        Label label = label();
        bind(label);
        return label;
    }

    public void bind(Label label) {
        label.position = code.size();
    }

    public void move(General target, General source) {
        wide(0x8B, target.number(), source);
    }

    public void load(General target, Memory source) {
        wide(0x8B, target.number(), source);
    }

    public void store(Memory target, General source) {
        wide(0x89, source.number(), target);
    }

    /** Stores the lower 32 bits. */
    public void storeInt(Memory target, General source) {
        prefixed(false, 0x89, source.number(), target);
    }

    public void address(General target, Memory source) {
        wide(0x8D, target.number(), source);
    }

    public void add(General target, General source) {
        wide(0x03, target.number(), source);
    }

    public void add(General target, int number) {
        wide(0x81, 0, target);
        int32(number);
    }

    public void compare(General register, int number) {
        wide(0x81, 7, register);
        int32(number);
    }

    /** Loads a number that is not negative. */
    public void set(General target, int number) {
        if (target.number() >= 8) {
            code.write(0x41);
        }
        code.write(0xB8 + (target.number() & 7));
        int32(number);
    }

    public void push(General register) {
        shortForm(0x50, register);
    }

    public void pop(General register) {
        shortForm(0x58, register);
    }

    private void shortForm(int opcode, General register) {
        if (register.number() >= 8) {
            code.write(0x41);
        }
        code.write(opcode + (register.number() & 7));
    }

    public void jump(Label label) {
        code.write(0xE9);
        use(label);
    }

    public void jumpIfNotZero(Label label) {
        code.write(0x0F);
        code.write(0x85);
        use(label);
    }

    public void jumpIfZero(Label label) {
        code.write(0x0F);
        code.write(0x84);
        use(label);
    }

    private void use(Label label) {
        label.uses.add(code.size());
        int32(0);
    }

    public void ret() {
        code.write(0xC3);
    }

    /** Lets stores that went around the caches be seen before what follows. */
    public void sfence() {
        code.write(0x0F);
        code.write(0xAE);
        code.write(0xF8);
    }

    public void cpuid() {
        code.write(0x0F);
        code.write(0xA2);
    }

    public void xgetbv() {
        code.write(0x0F);
        code.write(0x01);
        code.write(0xD0);
    }

    public void prefetch(Memory line) {
        prefixes(line);
        code.write(0x0F);
        code.write(0x18);
        modRm(1, line, 1);
    }

    /** Loads MXCSR: how vector instructions round. */
    public void loadControl(Memory source) {
        control(2, source);
    }

    /** Stores MXCSR. */
    public void storeControl(Memory target) {
        control(3, target);
    }

    private void control(int extension, Memory memory) {
        prefixes(memory);
        code.write(0x0F);
        code.write(0xAE);
        modRm(extension, memory, 1);
    }

    private void prefixes(Memory memory) {
        int rex = high(memory.base().number())
                | (memory.scale() == 0 ? 0 : high(memory.index().number()) << 1);
        if (rex != 0) {
            code.write(0x40 | rex);
        }
    }

    private void wide(int opcode, int field, Operand operand) {
        prefixed(true, opcode, field, operand);
    }

    private void prefixed(boolean isWide, int opcode, int field, Operand operand) {
        int rex = (isWide ? 8 : 0) | high(field) << 2;
        if (operand instanceof Memory memory) {
            rex |= high(memory.base().number())
                    | (memory.scale() == 0 ? 0 : high(memory.index().number()) << 1);
        } else {
            rex |= high(((Register) operand).number());
        }
        if (rex != 0) {
            code.write(0x40 | rex);
        }
        code.write(opcode);
        modRm(field, operand, 1);
    }

    private static int high(int number) {
        return (number >> 3) & 1;
    }

    /** A load, a store, or a tile's load or store: its target and its source. */
    public void emit(Opcode opcode, Operand target, Operand source) {
        switch (opcode.form) {
            case LOAD -> encode(opcode, (Register) target, NO_REGISTER, source, bits(target));
            case STORE -> encode(opcode, (Register) source, NO_REGISTER, target, bits(source));
            case TILE_LOAD -> encode(opcode, (Tile) target, NO_REGISTER, source, 128);
            case TILE_STORE -> encode(opcode, (Tile) source, NO_REGISTER, target, 128);
            default -> throw new IllegalArgumentException(opcode + " does not have two operands");
        }
    }

    /** An instruction with two sources. */
    public void emit(Opcode opcode, Register target, Register first, Operand second) {
        switch (opcode.form) {
            case THREE, THREE_BYTES -> encode(opcode, target, first.number(), second, bits(target));
            case TILES -> encode(opcode, target, ((Tile) second).number(), first, 128);
            default -> throw new IllegalArgumentException(opcode + " does not have three operands");
        }
    }

    /** An instruction with two sources and a byte. */
    public void emit(Opcode opcode, Register target, Register first, Operand second, int immediate) {
        encode(opcode, target, first.number(), second, bits(target));
        code.write(immediate);
    }

    /** A shift by a number of bits. */
    public void shift(Opcode opcode, Vector target, Vector source, int count) {
        var extension = new Vector(opcode.extension, target.bits());
        encode(opcode, extension, target.number(), source, target.bits());
        code.write(count);
    }

    /** An instruction whose only operand is memory. */
    public void emit(Opcode opcode, Memory memory) {
        encode(opcode, new Tile(0), NO_REGISTER, memory, 128);
    }

    /** An instruction whose only operand is a tile. */
    public void emit(Opcode opcode, Tile tile) {
        encode(opcode, tile, NO_REGISTER, new Tile(0), 128);
    }

    /** An instruction without operands. */
    public void emit(Opcode opcode) {
        encode(opcode, new Tile(0), NO_REGISTER, new Tile(0), 128);
    }

    private static int bits(Operand register) {
        return ((Vector) register).bits();
    }

    private void encode(Opcode opcode, Register field, int second, Operand operand, int bits) {
        if (bits == 512) {
            evex(opcode, field.number(), second, operand);
        } else {
            vex(opcode, field.number(), second, operand, bits == 256);
        }
    }

    /** The three-byte prefix: registers 0 to 15, 128 or 256 bits; no instruction of ours has the bit W here. */
    private void vex(Opcode opcode, int field, int second, Operand operand, boolean is256) {
        int base = operand instanceof Memory memory ? memory.base().number() : ((Register) operand).number();
        int index = operand instanceof Memory memory && memory.scale() != 0
                ? memory.index().number()
                : 0;
        code.write(0xC4);
        code.write((high(field) ^ 1) << 7 | (high(index) ^ 1) << 6 | (high(base) ^ 1) << 5 | opcode.map);
        code.write((~second & 15) << 3 | (is256 ? 4 : 0) | opcode.prefix);
        code.write(opcode.code);
        modRm(field, operand, 1);
    }

    /** The four-byte prefix: registers 0 to 31, 512 bits, broadcast from memory, short displacements in units. */
    private void evex(Opcode opcode, int field, int second, Operand operand) {
        int extended; // X: the fifth bit of a register, or the fourth of an index
        int base;
        boolean broadcast = false;
        int unit = opcode.memoryBytes;
        if (operand instanceof Memory memory) {
            extended = memory.scale() == 0 ? 0 : high(memory.index().number());
            base = memory.base().number();
            broadcast = memory.broadcast();
            unit = broadcast ? Integer.BYTES : unit;
        } else {
            base = ((Register) operand).number();
            extended = base >> 4;
        }
        code.write(0x62);
        code.write((high(field) ^ 1) << 7
                | (extended ^ 1) << 6
                | (high(base) ^ 1) << 5
                | ((field >> 4) ^ 1) << 4
                | opcode.map);
        code.write((opcode.isWide ? 0x80 : 0) | (~second & 15) << 3 | 4 | opcode.prefix);
        code.write(2 << 5 | (broadcast ? 0x10 : 0) | ((second >> 4) ^ 1) << 3);
        code.write(opcode.code);
        modRm(field, operand, unit);
    }

    /** ModRM, SIB and displacement; a short displacement counts in units. */
    private void modRm(int field, Operand operand, int unit) {
        int middle = (field & 7) << 3;
        if (!(operand instanceof Memory memory)) {
            code.write(0xC0 | middle | (((Register) operand).number() & 7));
            return;
        }
        int base = memory.base().number() & 7;
        int displacement = memory.displacement();
        boolean isShort = displacement % unit == 0 && displacement / unit >= -128 && displacement / unit <= 127;
        boolean isNone = displacement == 0 && base != General.RBP.number();
        int mode = isNone ? 0 : isShort ? 0x40 : 0x80;
        if (memory.scale() != 0) {
            code.write(mode | middle | 4);
            int scale = Integer.numberOfTrailingZeros(memory.scale());
            code.write(scale << 6 | (memory.index().number() & 7) << 3 | base);
        } else if (base == General.RSP.number()) {
            code.write(mode | middle | 4);
            code.write(0x24);
        } else {
            code.write(mode | middle | base);
        }
        if (isNone) {
            return;
        }
        if (isShort) {
            code.write(displacement / unit);
        } else {
            int32(displacement);
        }
    }

    private void int32(int number) {
        for (int i = 0; i < 4; i++) {
            code.write(number >> (8 * i));
        }
    }
}
