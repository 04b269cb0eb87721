package roselle.cpu.machine;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.LongPredicate;
import java.util.stream.Collectors;
import roselle.cpu.machine.assembler.Assembler;
import roselle.cpu.machine.assembler.Operand;
import roselle.cpu.machine.assembler.Operand.General;

/**
 * What the processor and the system offer to machine code, asked by {@code cpuid} and {@code xgetbv}.
 *
 * @param features what may be used
 * @param obstacle why no machine code runs at all; empty where it does
 */
public record Processor(Set<Feature> features, String obstacle) {
    /** A group of instructions. */
    public enum Feature {
        AVX2,
        AVX512,
        VNNI,
        BF16,
        AMX
    }

    /** Bits of the register that says which states the system saves: SSE, AVX; the masks and halves of AVX-512; tiles. */
    private static final int AVX_STATE = 0x6;

    private static final int AVX512_STATE = 0xE6;
    private static final int TILE_STATE = 0x60000;
    private static final long TILE_DATA = 18;

    public Processor {
        features = Set.copyOf(features);
    }

    /** Asks this machine. */
    public static Processor probe() {
        if (!isKnownSystem()) {
            return without(
                    "machine code is emitted for Linux on x86-64, this is " + system() + " on " + architecture());
        }
        if (lacksOnlyNativeAccess()) {
            return without("native access is not enabled for " + module());
        }
        var memory = ExecutableMemory.of(List.of(identify(), states()));
        if (memory.isEmpty()) {
            return without("the system refuses executable memory");
        }
        try (var code = memory.get();
                var arena = Arena.ofConfined()) {
            Answers answers = ask(code, arena.allocate(16));
            return new Processor(answers.features(SystemCalls::requestPermission), "");
        }
    }

    /** Whether machine code is emitted for this system, but Java does not let this module call it. */
    public static boolean lacksOnlyNativeAccess() {
        return isKnownSystem() && !Processor.class.getModule().isNativeAccessEnabled();
    }

    private static boolean isKnownSystem() {
        return system().equals("Linux") && architecture().equals("amd64");
    }

    private static String system() {
        return System.getProperty("os.name", "");
    }

    private static String architecture() {
        return System.getProperty("os.arch", "");
    }

    private static String module() {
        String name = Processor.class.getModule().getName();
        return name == null ? "the class path" : name;
    }

    private static Processor without(String obstacle) {
        return new Processor(Set.of(), obstacle);
    }

    private static Answers ask(ExecutableMemory code, MemorySegment answer) {
        int leaves = cpuid(code, answer, 0, 0)[0];
        int first = cpuid(code, answer, 1, 0)[2];
        boolean savesStates = (first & 1 << 27) != 0;
        if (!savesStates || leaves < 7) {
            return new Answers(first, 0, 0, 0, 0, 0);
        }
        int[] seventh = cpuid(code, answer, 7, 0);
        int more = cpuid(code, answer, 7, 1)[0];
        SystemCalls.call(code.routines().get(1), answer.address());
        return new Answers(first, seventh[1], seventh[2], seventh[3], more, answer.get(JAVA_INT, 0));
    }

    /**
     * What a processor says of itself, and the states that the system saves.
     *
     * @param ecx1 the register ECX of leaf 1
     * @param ebx7 the register EBX of leaf 7, and so on
     * @param eax71 the register EAX of leaf 7, subleaf 1
     */
    public record Answers(int ecx1, int ebx7, int ecx7, int edx7, int eax71, int saved) {
        /** What may be used, where the system permits what it has to be asked for. */
        public Set<Feature> features(LongPredicate permits) {
            var found = EnumSet.noneOf(Feature.class);
            boolean hasFmaAndHalves = (ecx1 & 1 << 12) != 0 && (ecx1 & 1 << 29) != 0;
            if (!saves(AVX_STATE) || !hasFmaAndHalves || (ebx7 & 1 << 5) == 0) {
                return found;
            }
            found.add(Feature.AVX2);
            int foundationWordsBytes = 1 << 16 | 1 << 17 | 1 << 30 | 1 << 31;
            boolean hasWide = (ebx7 & foundationWordsBytes) == foundationWordsBytes && (ecx7 & 2) != 0;
            if (!saves(AVX512_STATE) || !hasWide) {
                return found;
            }
            found.add(Feature.AVX512);
            if ((ecx7 & 1 << 11) != 0) {
                found.add(Feature.VNNI);
            }
            if ((eax71 & 1 << 5) != 0) {
                found.add(Feature.BF16);
                boolean hasTiles = (edx7 & 1 << 22) != 0 && (edx7 & 1 << 24) != 0;
                if (hasTiles && saves(TILE_STATE) && permits.test(TILE_DATA)) {
                    found.add(Feature.AMX);
                }
            }
            return found;
        }

        private boolean saves(int states) {
            return (saved & states) == states;
        }
    }

    private static int[] cpuid(ExecutableMemory code, MemorySegment answer, int leaf, int subleaf) {
        answer.set(JAVA_INT, 0, leaf);
        answer.set(JAVA_INT, 4, subleaf);
        SystemCalls.call(code.routines().get(0), answer.address());
        return answer.toArray(JAVA_INT);
    }

    /** Replaces two numbers, leaf and subleaf, by four registers. */
    public static byte[] identify() {
        var code = new Assembler();
        code.push(General.RBX);
        code.load(General.RAX, Operand.at(General.RDI, 0));
        code.load(General.RCX, Operand.at(General.RDI, 4));
        code.cpuid();
        code.storeInt(Operand.at(General.RDI, 0), General.RAX);
        code.storeInt(Operand.at(General.RDI, 4), General.RBX);
        code.storeInt(Operand.at(General.RDI, 8), General.RCX);
        code.storeInt(Operand.at(General.RDI, 12), General.RDX);
        code.pop(General.RBX);
        code.ret();
        return code.bytes();
    }

    /** Stores the states that the system saves. */
    public static byte[] states() {
        var code = new Assembler();
        code.set(General.RCX, 0);
        code.xgetbv();
        code.storeInt(Operand.at(General.RDI, 0), General.RAX);
        code.ret();
        return code.bytes();
    }

    @Override
    public String toString() {
        return obstacle.isEmpty()
                ? features.stream()
                        .sorted()
                        .map(feature -> feature.name().toLowerCase(Locale.ROOT))
                        .collect(Collectors.joining(", "))
                : obstacle;
    }
}
