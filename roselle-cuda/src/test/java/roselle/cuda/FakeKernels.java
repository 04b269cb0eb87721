package roselle.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.PaddingLayout;
import java.lang.foreign.StructLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import roselle.cuda.KernelSignature.Parameter;
import roselle.cuda.kernel.KernelSource;
import roselle.cuda.layout.SharedStructs;

/**
 * Modules and kernels of a fake device: nothing is computed, but every launch is held to the kernel's declaration and to the
 * limits of the card.
 *
 * <p>After a launch the host's slots for parameters are filled with a pattern, as the driver would have copied them: so the
 * next launch shows which of their bytes were written for it.
 */
@SuppressWarnings("restricted")
public final class FakeKernels {
    private static final String CUBIN = "fake cubin ";
    private static final byte PATTERN = (byte) 0xA5;
    private static final int PATTERN_INT = 0xA5A5A5A5;
    private static final int SLOT = 128;
    private static final int NEEDS_NO_PERMISSION = 48 << 10;
    private static final int MAX_BLOCKS_Y = 65_535;
    private static final int CLUSTER = 4;
    private static final int OVERLAP = 6;
    private static final String TENSOR_MAP = "const __grid_constant__ TensorMap";

    private final FakeDriver.Card card;
    private final FakeMemory memory;
    private final FakePinned pinned;
    private final Map<Long, KernelSource> modules = new HashMap<>();
    private final Map<Long, Function> functions = new HashMap<>();
    private final Set<Long> patterned = new HashSet<>(); // addresses of parameter arrays that had their pattern

    /** A kernel, and how much dynamic shared memory it was allowed. */
    private static final class Function {
        private final long module;
        private final KernelSignature signature;
        private int allowed = NEEDS_NO_PERMISSION;

        private Function(long module, KernelSignature signature) {
            this.module = module;
            this.signature = signature;
        }
    }

    /** What a launch starts: blocks, how many of them form a cluster, and what each has. */
    record Grid(int x, int y, int z, int cluster, int threads, int sharedBytes) {}

    /**
     * A launch that kept the rules.
     *
     * @param values the first eight bytes of each parameter
     * @param addresses all that point into device memory, and none into the host's
     */
    record Launch(KernelSignature kernel, Grid grid, List<Long> values, List<Long> addresses) {
        /** A parameter by its name in the source. */
        long value(String name) {
            for (int i = 0; i < values.size(); i++) {
                if (kernel.parameters().get(i).text().endsWith(name)) {
                    return values.get(i);
                }
            }
            throw new AssertionError(kernel.name() + " has no parameter " + name);
        }
    }

    FakeKernels(FakeDriver.Card card, FakeMemory memory, FakePinned pinned) {
        this.card = card;
        this.memory = memory;
        this.pinned = pinned;
    }

    /** What stands for the machine code of a source. */
    public static byte[] cubin(KernelSource source, String architecture) {
        return (CUBIN + source.name() + " " + architecture).getBytes(StandardCharsets.UTF_8);
    }

    int moduleCount() {
        return modules.size();
    }

    void load(long handle, byte[] cubin) {
        String text = new String(cubin, StandardCharsets.UTF_8);
        if (!text.startsWith(CUBIN)) {
            throw new AssertionError("what was loaded is no cubin");
        }
        String[] parts = text.substring(CUBIN.length()).split(" ");
        KernelSource source = KernelSource.all().stream()
                .filter(each -> each.name().equals(parts[0]))
                .findFirst()
                .orElseThrow();
        if (!source.isFor(parts[1])) {
            throw new AssertionError(source.file() + " is not for " + parts[1]);
        }
        modules.put(handle, source);
    }

    void unload(long module) {
        if (modules.remove(module) == null) {
            throw new AssertionError("module " + module + " is not loaded");
        }
        functions.values().removeIf(function -> function.module == module);
    }

    void unloadAll() {
        modules.clear();
        functions.clear();
    }

    void function(long handle, long module, String name) {
        KernelSource source = modules.get(module);
        if (source == null) {
            throw new AssertionError("module " + module + " of " + name + " is not loaded");
        }
        functions.put(handle, new Function(module, KernelSignature.of(source, name)));
    }

    private Function function(long handle) {
        Function function = functions.get(handle);
        if (function == null) {
            throw new AssertionError("kernel " + handle + " is not loaded");
        }
        return function;
    }

    void allow(long handle, int bytes) {
        require(bytes <= card.sharedMemory(), "a kernel was allowed " + bytes + " bytes of shared memory");
        function(handle).allowed = bytes;
    }

    Launch launch(MemorySegment borrowedConfig, long handle, MemorySegment parameters) {
        Function function = function(handle);
        String name = function.signature.name();
        MemorySegment config = borrowedConfig.reinterpret(56);
        Grid grid = grid(name, config);
        require(grid.x >= 1, name + " has a grid of " + grid.x + " blocks along x");
        require(grid.y >= 1 && grid.y <= MAX_BLOCKS_Y, name + " has a grid of " + grid.y + " blocks along y");
        require(grid.z >= 1 && grid.z <= MAX_BLOCKS_Y, name + " has a grid of " + grid.z + " blocks along z");
        int most = function.signature.threads();
        require(
                grid.threads >= 1 && grid.threads <= most,
                name + " has blocks of " + grid.threads + " threads, not " + most);
        require(
                grid.sharedBytes >= 0 && grid.sharedBytes <= function.allowed,
                name + " takes " + grid.sharedBytes + " bytes of shared memory");
        try {
            return arguments(function.signature, grid, parameters);
        } finally {
            for (long i = 0; i < parameters.byteSize() / ADDRESS.byteSize(); i++) {
                parameters.getAtIndex(ADDRESS, i).reinterpret(SLOT).fill(PATTERN);
            }
        }
    }

    private Grid grid(String name, MemorySegment config) {
        return new Grid(
                config.get(JAVA_INT, 0),
                config.get(JAVA_INT, 4),
                config.get(JAVA_INT, 8),
                cluster(name, config),
                config.get(JAVA_INT, 12) * config.get(JAVA_INT, 16) * config.get(JAVA_INT, 20),
                config.get(JAVA_INT, 24));
    }

    /** Holds the attributes of a launch to the rules; returns the blocks of a cluster. */
    private int cluster(String name, MemorySegment config) {
        int cluster = 1;
        int gridX = config.get(JAVA_INT, 0);
        int count = config.get(JAVA_INT, 48);
        MemorySegment attributes = config.get(ADDRESS, 40).reinterpret(72L * count);
        for (int i = 0; i < count; i++) {
            int value = attributes.get(JAVA_INT, 72L * i + 8);
            switch (attributes.get(JAVA_INT, 72L * i)) {
                case CLUSTER -> {
                    require(card.major() >= 9, name + " has clusters, which " + card.name() + " does not know");
                    require(value >= 2 && value <= 8 && gridX % value == 0, name + " has clusters of " + value);
                    cluster = value;
                }
                case OVERLAP -> require(value == 1, name + " overlaps " + value);
                default -> throw new AssertionError(name + " has an unknown attribute");
            }
        }
        return cluster;
    }

    private Launch arguments(KernelSignature kernel, Grid grid, MemorySegment borrowed) {
        List<Parameter> declared = kernel.parameters();
        MemorySegment pointers = borrowed.reinterpret((declared.size() + 1L) * ADDRESS.byteSize());
        boolean isKnown = !patterned.add(borrowed.address());
        var values = new ArrayList<Long>();
        var addresses = new ArrayList<Long>();
        for (int i = 0; i < declared.size(); i++) {
            MemorySegment slot = pointers.getAtIndex(ADDRESS, i).reinterpret(SLOT);
            String what =
                    kernel.name() + "'s parameter " + i + " (" + declared.get(i).text() + ")";
            if (isKnown) {
                requireWidth(what, declared.get(i), slot);
            }
            argument(what, declared.get(i), slot, addresses);
            values.add(slot.get(JAVA_LONG, 0));
        }
        if (isKnown && declared.size() * ADDRESS.byteSize() < borrowed.byteSize()) {
            MemorySegment next = pointers.getAtIndex(ADDRESS, declared.size()).reinterpret(SLOT);
            require(
                    isUntouched(next, 0, SLOT),
                    kernel.name() + " was given more than " + declared.size() + " parameters");
        }
        return new Launch(kernel, grid, List.copyOf(values), List.copyOf(addresses));
    }

    private static void requireWidth(String what, Parameter declared, MemorySegment slot) {
        require(
                !isUntouched(slot, 0, declared.kind() == KernelSignature.Kind.STRUCT ? SLOT : 4),
                what + " was not given");
        boolean isNarrow = slot.get(JAVA_INT, 4) == PATTERN_INT;
        switch (declared.kind()) {
            case POINTER, WIDE -> require(!isNarrow, what + " was given 4 bytes");
            case NARROW -> require(isNarrow, what + " was given 8 bytes");
            case STRUCT -> requireMembers(what, declared.type(), slot);
        }
    }

    /** Holds a struct to its layout: every member was written, and nothing behind the last one. */
    private static void requireMembers(String what, String type, MemorySegment slot) {
        if (type.equals(TENSOR_MAP)) {
            return; // the driver alone knows what is in it
        }
        StructLayout layout = SharedStructs.of(type);
        long at = 0;
        for (MemoryLayout member : layout.memberLayouts()) {
            require(
                    member instanceof PaddingLayout || !isUntouched(slot, at, at + member.byteSize()),
                    what + " was given without " + member.name().orElse("a member"));
            at += member.byteSize();
        }
        require(isUntouched(slot, at, SLOT), what + " was given more than its " + at + " bytes");
    }

    private static boolean isUntouched(MemorySegment slot, long from, long until) {
        for (long i = from; i < until; i++) {
            if (slot.get(JAVA_BYTE, i) != PATTERN) {
                return false;
            }
        }
        return true;
    }

    private void argument(String what, Parameter declared, MemorySegment slot, List<Long> addresses) {
        switch (declared.kind()) {
            case POINTER -> {
                long address = slot.get(JAVA_LONG, 0);
                if (address != 0 && pinned.at(address, 1) == null) {
                    memory.requireLive(what, address, 1);
                    addresses.add(address);
                }
            }
            case WIDE ->
                require(!FakeMemory.looksLikeAnAddress(slot.get(JAVA_LONG, 0)), what + " was given an address");
            case NARROW -> {}
            case STRUCT -> {
                for (int at = 0; at < SLOT; at += 8) {
                    long word = slot.get(JAVA_LONG, at);
                    if (FakeMemory.looksLikeAnAddress(word)) {
                        memory.requireLive(what, word, 1);
                        addresses.add(word);
                    }
                }
            }
        }
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new AssertionError(otherwise);
        }
    }
}
