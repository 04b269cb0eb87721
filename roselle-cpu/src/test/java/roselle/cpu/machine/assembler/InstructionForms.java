package roselle.cpu.machine.assembler;

import static roselle.cpu.machine.assembler.Operand.at;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import roselle.cpu.machine.assembler.Operand.General;
import roselle.cpu.machine.assembler.Operand.Memory;
import roselle.cpu.machine.assembler.Operand.Register;
import roselle.cpu.machine.assembler.Operand.Tile;
import roselle.cpu.machine.assembler.Operand.Vector;

/**
 * Every instruction form of the assembler over its operands, as text for GNU {@code as} in Intel's syntax and as a call.
 *
 * <p>Its main prints the texts: {@code tools/assembler-golden.sh} turns them into {@code assembler/golden.txt}.
 */
final class InstructionForms {
    private static final int[] WIDE_NUMBERS = {0, 9, 22, 31};
    private static final int[] NARROW_NUMBERS = {0, 7, 10, 15};

    private final Map<String, Consumer<Assembler>> forms = new LinkedHashMap<>();

    private InstructionForms() {
        general();
        for (Opcode opcode : Opcode.values()) {
            switch (opcode.form) {
                case CONFIGURATION, ALONE, TILE, TILE_LOAD, TILE_STORE, TILES -> tiles(opcode);
                default -> {
                    if (opcode != Opcode.VPERM2I128 && opcode != Opcode.VPSIGNB) {
                        vectors(opcode, 512, WIDE_NUMBERS);
                    }
                    if (hasNarrow(opcode)) {
                        vectors(opcode, 256, NARROW_NUMBERS);
                    }
                }
            }
        }
    }

    /** The forms, by their texts. */
    static Map<String, Consumer<Assembler>> all() {
        return new InstructionForms().forms;
    }

    /** Prints the texts, one a line. */
    public static void main(String[] arguments) {
        all().keySet().forEach(System.out::println);
    }

    private static boolean hasNarrow(Opcode opcode) {
        return switch (opcode) {
            case VPMOVDW, VPMOVSDB, VSHUFI32X4, VPERMW, VPERMI2W, VPTERNLOGD, VCVTNE2PS2BF16, VDPBF16PS -> false;
            default -> true;
        };
    }

    private void add(String text, Consumer<Assembler> form) {
        forms.put(text, form);
    }

    private static List<Memory> addresses(int unit) {
        return List.of(
                at(General.RAX, 0),
                at(General.RBP, 0),
                at(General.RSP, unit),
                at(General.R13, -unit),
                at(General.R12, 127 * unit),
                at(General.RSI, 128 * unit),
                at(General.R9, unit + 1),
                at(General.RDI, General.R8, 1, 0),
                at(General.R15, General.RBX, 2, 2 * unit),
                at(General.R13, General.R12, 4, 0),
                at(General.RCX, General.R9, 8, 4096));
    }

    private void general() {
        General[] some = {General.RAX, General.RBX, General.RSP, General.RDI, General.R8, General.R12, General.R15};
        for (General a : some) {
            add("push " + a, code -> code.push(a));
            add("pop " + a, code -> code.pop(a));
            if (a != General.RAX) { // has a form of its own, which we do without
                add("add " + a + ", 1193046", code -> code.add(a, 1_193_046));
            }
            for (General b : some) {
                add("{load} mov " + a + ", " + b, code -> code.move(a, b));
                add("{load} add " + a + ", " + b, code -> code.add(a, b));
            }
            for (Memory memory : addresses(1)) {
                add("mov " + a + ", qword ptr " + memory, code -> code.load(a, memory));
                add("mov qword ptr " + memory + ", " + a, code -> code.store(memory, a));
                add("lea " + a + ", " + memory, code -> code.address(a, memory));
            }
        }
        for (Memory memory : addresses(1)) {
            add("prefetcht0 " + memory, code -> code.prefetch(memory));
            add("ldmxcsr " + memory, code -> code.loadControl(memory));
            add("stmxcsr " + memory, code -> code.storeControl(memory));
            add("mov dword ptr " + memory + ", eax", code -> code.storeInt(memory, General.RAX));
            add("mov dword ptr " + memory + ", r10d", code -> code.storeInt(memory, General.R10));
        }
        add("mov ecx, 7", code -> code.set(General.RCX, 7));
        add("mov r9d, 100000", code -> code.set(General.R9, 100_000));
        add("sfence", Assembler::sfence);
        add("cpuid", Assembler::cpuid);
        add("xgetbv", Assembler::xgetbv);
        add("ret", Assembler::ret);
        add("9: .fill 200, 1, 0xc3; cmp rbx, 1193046; jne 9b", code -> back(code, code::jumpIfNotZero));
        add("9: .fill 200, 1, 0xc3; cmp rbx, 1193046; je 9b", code -> back(code, code::jumpIfZero));
        add("{disp32} jmp 9f; .fill 200, 1, 0xc3; 9:", InstructionForms::forward);
    }

    private static void back(Assembler code, Consumer<Assembler.Label> jump) {
        Assembler.Label label = code.here();
        returns(code);
        code.compare(General.RBX, 1_193_046);
        jump.accept(label);
    }

    private static void forward(Assembler code) {
        Assembler.Label label = code.label();
        code.jump(label);
        returns(code);
        code.bind(label);
    }

    /** So many that a jump across them is a long one. */
    private static void returns(Assembler code) {
        for (int i = 0; i < 200; i++) {
            code.ret();
        }
    }

    private void vectors(Opcode opcode, int bits, int[] numbers) {
        for (int n : numbers) {
            for (int m : numbers) {
                vectors(opcode, new Vector(n, bits), new Vector(m, bits), source(opcode, m, bits));
            }
            for (Memory memory : addresses(bits == 512 ? opcode.memoryBytes : 1)) {
                memory(opcode, new Vector(n, bits), new Vector(numbers[2], bits), memory);
                boolean broadcasts = bits == 512 && opcode.form == Opcode.Form.THREE && !opcode.isWide;
                if (broadcasts) {
                    memory(opcode, new Vector(n, bits), new Vector(numbers[2], bits), memory.toAllLanes());
                    memory(
                            opcode,
                            new Vector(n, bits),
                            new Vector(numbers[2], bits),
                            memory.plus(60).toAllLanes());
                }
            }
        }
    }

    /** A source register is narrower than its target where numbers are widened. */
    private static Vector source(Opcode opcode, int number, int bits) {
        int part = opcode.memoryBytes == 0 ? bits : bits * opcode.memoryBytes / 64;
        return new Vector(number % 16, Math.max(128, part == bits ? 256 : part)).bits() == bits || part == bits
                ? new Vector(number, bits)
                : new Vector(number % 16, Math.max(128, part));
    }

    private void vectors(Opcode opcode, Vector a, Vector b, Vector source) {
        String name = prefix(a.bits()) + opcode.mnemonic(a.bits()) + " " + a + ", ";
        switch (opcode.form) {
            case LOAD -> add("{load} " + name + source, code -> code.emit(opcode, a, source));
            case THREE, THREE_BYTES -> add(name + b + ", " + a, code -> code.emit(opcode, a, b, a));
            case THREE_IMMEDIATE -> add(name + b + ", " + a + ", 202", code -> code.emit(opcode, a, b, a, 202));
            case SHIFT -> add(name + b + ", 13", code -> code.shift(opcode, a, b, 13));
            default -> {}
        }
    }

    private void memory(Opcode opcode, Vector a, Vector b, Memory memory) {
        String mnemonic = prefix(a.bits()) + opcode.mnemonic(a.bits()) + " ";
        String place = memory.toString();
        switch (opcode.form) {
            case LOAD -> add(mnemonic + a + ", " + place, code -> code.emit(opcode, a, memory));
            case STORE -> add(mnemonic + place + ", " + a, code -> code.emit(opcode, memory, a));
            case THREE, THREE_BYTES ->
                add(mnemonic + a + ", " + b + ", " + place, code -> code.emit(opcode, a, b, memory));
            case THREE_IMMEDIATE ->
                add(mnemonic + a + ", " + b + ", " + place + ", 7", code -> code.emit(opcode, a, b, memory, 7));
            default -> {}
        }
    }

    /** The three-byte form, also where the two-byte one would do. */
    private static String prefix(int bits) {
        return bits == 512 ? "" : "{vex3} ";
    }

    private void tiles(Opcode opcode) {
        String name = opcode.mnemonic(512) + " ";
        Memory[] places = {
            at(General.RAX, General.RBX, 1, 0),
            at(General.R13, General.R12, 1, 64),
            at(General.RSP, General.R9, 1, 1024)
        };
        switch (opcode.form) {
            case ALONE -> add("tilerelease", code -> code.emit(opcode));
            case CONFIGURATION -> addresses(1).forEach(memory -> add(name + memory, code -> code.emit(opcode, memory)));
            default -> {
                for (int n = 0; n < 8; n++) {
                    tiles(opcode, name, new Tile(n), new Tile((n + 3) % 8), new Tile((n + 5) % 8), places[n % 3]);
                }
            }
        }
    }

    private void tiles(Opcode opcode, String name, Tile a, Tile b, Register c, Memory memory) {
        switch (opcode.form) {
            case TILE -> add(name + a, code -> code.emit(opcode, a));
            case TILE_LOAD -> add(name + a + ", " + memory, code -> code.emit(opcode, a, memory));
            case TILE_STORE -> add(name + memory + ", " + a, code -> code.emit(opcode, memory, a));
            default -> add(name + a + ", " + b + ", " + c, code -> code.emit(opcode, a, b, c));
        }
    }
}
