package roselle.cpu.memory;

import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import roselle.api.DeviceException;
import roselle.cpu.machine.Compute;
import roselle.cpu.machine.InstructionSet;
import roselle.cpu.machine.OwnedMemory;
import roselle.cpu.machine.Processor;
import roselle.cpu.machine.Processor.Feature;
import roselle.cpu.machine.amx.AmxKernels;
import roselle.cpu.machine.amx.AmxProof;
import roselle.cpu.machine.gemm.GemmKernels;
import roselle.cpu.machine.panel.Panel;
import roselle.cpu.machine.panel.TileKernels;
import roselle.cpu.machine.row.RowKernels;
import roselle.cpu.option.CpuOptions;
import roselle.cpu.option.CpuPath;
import roselle.cpu.option.Precision;
import roselle.quantization.StoredMatrix;
import roselle.tensor.DataType;

/** The machine code that products use, with the weights that were repacked for it; nothing where the Vector API works. */
public final class MachineCode implements AutoCloseable {
    private static final String REFUSED = "the system refuses executable memory";

    private final Map<Compute, GemmKernels> kernels = new EnumMap<>(Compute.class);
    private final Map<Compute, TileKernels> tiles = new EnumMap<>(Compute.class);
    private Optional<RowKernels> rows = Optional.empty();
    private Optional<AmxKernels> amx = Optional.empty();
    private boolean agreesInRegisters;
    private final OwnedMemory memory;
    private boolean hasRounded; // a weight whose products are rounded
    private boolean hasSplit; // one whose products are of split numbers
    private final Precision precision;
    private CpuPath path;
    private final String reason;

    private MachineCode(CpuPath path, Precision precision, String reason) {
        this.path = path;
        this.precision = precision;
        this.reason = reason;
        memory = new OwnedMemory();
    }

    /** The paths that a processor offers, the slowest first. */
    public static List<CpuPath> paths(Processor processor) {
        var paths = new ArrayList<CpuPath>();
        paths.add(CpuPath.VECTOR);
        for (CpuPath path : List.of(CpuPath.AVX2, CpuPath.AVX512, CpuPath.VNNI, CpuPath.BF16, CpuPath.AMX)) {
            if (processor.features().contains(Feature.valueOf(path.name()))) {
                paths.add(path);
            }
        }
        return paths;
    }

    /** The best path that gives the bits of products as they are meant: the one with bytes is only asked for. */
    private static CpuPath best(Processor processor) {
        List<CpuPath> paths = paths(processor);
        return paths.getLast() == CpuPath.VNNI ? CpuPath.AVX512 : paths.getLast();
    }

    /**
     * Opens what the options ask for, or the best there is.
     *
     * @throws DeviceException if the path or the precision that they name is not to be had here
     */
    public static MachineCode open(CpuOptions options) {
        requireBytes(options);
        if (options.path() == CpuPath.VECTOR) {
            return vector(options, "asked for");
        }
        boolean isOfFloats = options.path() == CpuPath.AVX2 || options.path() == CpuPath.AVX512;
        if (isOfFloats && options.precision() == Precision.BF16) {
            throw new DeviceException("compute bf16 is not to be had on the path "
                    + options.path().label() + ", which multiplies float32: ask for another path, or for none");
        }
        Processor processor = Processor.probe();
        String reason = options.path() == CpuPath.AUTO ? "the best of " + processor : "asked for";
        MachineCode code = open(options, processor, reason);
        if (!code.isThere() && options.path() != CpuPath.AUTO) {
            code.close();
            throw notToBeHad(options, code.reason);
        }
        return code;
    }

    /** Products of bytes are those of some paths. */
    private static void requireBytes(CpuOptions options) {
        boolean hasBytes =
                options.path() == CpuPath.AUTO || options.path() == CpuPath.VNNI || options.path() == CpuPath.AVX2;
        if (options.precision() == Precision.INT8 && !hasBytes) {
            throw new DeviceException("compute int8 is not to be had on the path "
                    + options.path().label() + ": ask for the path vnni or avx2, or for none");
        }
    }

    /** Opens what was chosen for whoever left that open, and the reason why; the Vector API where the system refuses it. */
    public static MachineCode open(CpuOptions chosen, String reason) {
        return open(chosen, Processor.probe(), reason);
    }

    private static MachineCode open(CpuOptions options, Processor processor, String reason) {
        if (options.path() == CpuPath.VNNI || options.precision() == Precision.INT8) {
            return bytes(options, processor, reason);
        }
        CpuPath best = best(processor);
        if (options.path() == CpuPath.AUTO && best == CpuPath.VECTOR) {
            return vector(options, obstacle(processor, Feature.AVX2));
        }
        boolean isNarrow = options.path() == CpuPath.AVX2
                || (options.path() == CpuPath.AUTO && best == CpuPath.AVX2 && options.precision() != Precision.BF16);
        if (isNarrow) {
            return narrow(options, processor, reason);
        }
        boolean needsTiles = options.path() == CpuPath.AMX;
        boolean needsHalves = needsTiles || options.path() == CpuPath.BF16 || options.precision() == Precision.BF16;
        require(processor, Feature.AVX512, options);
        if (needsTiles) {
            require(processor, Feature.AMX, options);
        }
        if (needsHalves) {
            require(processor, Feature.BF16, options);
        }
        boolean hasHalves =
                options.path() != CpuPath.AVX512 && processor.features().contains(Feature.BF16);
        boolean mayHaveTiles = options.path() == CpuPath.AUTO && options.precision() != Precision.F32;
        if (needsTiles || (mayHaveTiles && processor.features().contains(Feature.AMX))) {
            Optional<AmxKernels> tiles = AmxKernels.open();
            return tiles.isPresent() ? withTiles(options, tiles.get(), reason) : vector(options, REFUSED);
        }
        return machine(options, hasHalves, reason);
    }

    private static MachineCode narrow(CpuOptions options, Processor processor, String reason) {
        require(processor, Feature.AVX2, options);
        var code = new MachineCode(CpuPath.AVX2, Precision.F32, reason);
        return code.opens(Compute.F32, InstructionSet.AVX2) ? code : code.refused(options);
    }

    private static MachineCode bytes(CpuOptions options, Processor processor, String reason) {
        boolean isWide = options.path() == CpuPath.VNNI
                || (options.path() == CpuPath.AUTO && processor.features().contains(Feature.VNNI));
        require(processor, isWide ? Feature.VNNI : Feature.AVX2, options);
        if (options.precision() == Precision.BF16) {
            require(processor, Feature.BF16, options);
        }
        InstructionSet set = isWide ? InstructionSet.AVX512 : InstructionSet.AVX2;
        boolean hasHalves = isWide && processor.features().contains(Feature.BF16);
        Precision others = hasHalves ? options.precision() : Precision.F32;
        var code = new MachineCode(isWide ? CpuPath.VNNI : CpuPath.AVX2, others, reason);
        boolean isOpen = code.opens(Compute.F32, set) && (!hasHalves || code.opens(Compute.BF16, set));
        boolean asksForMore = options.precision() == Precision.F32 || options.precision() == Precision.BF16;
        if (!asksForMore) {
            GemmKernels.open(Compute.INT8, set).ifPresent(opened -> code.kernels.put(Compute.INT8, opened));
            isOpen &= code.has(Compute.INT8);
        }
        return isOpen ? code : code.refused(options);
    }

    /** Opens the code of a precision; false where the system refuses executable memory. */
    private boolean opens(Compute compute, InstructionSet set) {
        GemmKernels.open(compute, set).ifPresent(opened -> kernels.put(compute, opened));
        TileKernels.open(compute, set).ifPresent(opened -> tiles.put(compute, opened));
        if (rows.isEmpty()) {
            rows = RowKernels.open(set);
        }
        return kernels.containsKey(compute) && tiles.containsKey(compute) && rows.isPresent();
    }

    private MachineCode refused(CpuOptions options) {
        close();
        return vector(options, REFUSED);
    }

    /** Multiplies in tiles, once they have proven to multiply as they should; else as well as it goes without them. */
    public static MachineCode withTiles(CpuOptions options, AmxKernels tiles, String reason) {
        AmxProof.Result proof = AmxProof.of(tiles);
        String fault = proof.fault();
        if (!fault.isEmpty()) {
            tiles.close();
            String wrong = "the AMX tiles of this processor multiply wrongly: " + fault;
            if (options.path() == CpuPath.AMX) {
                throw new DeviceException("the path amx is not to be had here: " + wrong);
            }
            return machine(options, true, reason + ", but " + wrong);
        }
        MachineCode code = machine(options, true, reason);
        boolean isSplit = options.precision() == Precision.SPLIT;
        if (code.isThere() && isSplit && !code.opens(Compute.SPLIT, InstructionSet.AVX512)) {
            code = code.refused(options);
        }
        if (!code.isThere()) {
            tiles.close();
            return code;
        }
        code.path = CpuPath.AMX;
        code.amx = Optional.of(tiles);
        code.agreesInRegisters = proof.agreesInRegisters();
        return code;
    }

    private static MachineCode machine(CpuOptions options, boolean hasHalves, String reason) {
        CpuPath path = hasHalves ? CpuPath.BF16 : CpuPath.AVX512;
        Precision precision = hasHalves ? options.precision() : Precision.F32;
        var code = new MachineCode(path, precision, reason);
        List<Compute> computes = hasHalves ? List.of(Compute.F32, Compute.BF16) : List.of(Compute.F32);
        for (Compute compute : computes) {
            if (!code.opens(compute, InstructionSet.AVX512)) {
                return code.refused(options);
            }
        }
        return code;
    }

    private static MachineCode vector(CpuOptions options, String reason) {
        if (options.precision() == Precision.BF16) {
            throw new DeviceException("compute bf16 needs machine code, and the Vector API works here: " + reason);
        }
        return new MachineCode(CpuPath.VECTOR, Precision.F32, reason);
    }

    /** Why a feature is not there: the processor lacks it, or the system does not let processes use it. */
    static String obstacle(Processor processor, Feature feature) {
        if (!processor.obstacle().isEmpty()) {
            return processor.obstacle();
        }
        String lacking = "the processor has no " + feature + ", or the system keeps it back";
        return processor.features().isEmpty() ? lacking : lacking + "; there is only " + processor;
    }

    private static void require(Processor processor, Feature feature, CpuOptions options) {
        if (!processor.features().contains(feature)) {
            throw notToBeHad(options, obstacle(processor, feature));
        }
    }

    private static DeviceException notToBeHad(CpuOptions options, String reason) {
        return new DeviceException("the path " + options.path().label() + " with compute "
                + options.precision().name().toLowerCase(java.util.Locale.ROOT) + " is not to be had here: " + reason);
    }

    /** Whether machine code reads weights of these types; then they are repacked. */
    public boolean takes(List<StoredMatrix> blocks) {
        Compute compute = compute(blocks);
        return !kernels.isEmpty()
                && blocks.stream()
                        .allMatch(block -> block instanceof StoredMatrix.Whole
                                && Panel.of(block.codes().type(), compute).isPresent());
    }

    /** The precision of a weight: that of its most precise block. */
    public Compute compute(List<StoredMatrix> blocks) {
        if (has(Compute.INT8) && areForBytes(blocks)) {
            return Compute.INT8;
        }
        boolean isRounded =
                blocks.stream().allMatch(block -> precision.of(block.codes().type()) == Compute.BF16);
        if (isRounded) {
            return Compute.BF16;
        }
        boolean isOfFloats = blocks.stream().allMatch(block -> block.codes().type() == DataType.F32);
        return has(Compute.SPLIT) && isOfFloats ? Compute.SPLIT : Compute.F32;
    }

    /** The code of products in AMX tiles: those of bfloat16 are theirs. */
    public Optional<AmxKernels> amx() {
        return amx;
    }

    /** Whether products of a few rows have the bits of tiles without them. */
    public boolean agreesInRegisters() {
        return agreesInRegisters;
    }

    /** Whether bytes of activations, in one order, meet all blocks. */
    private static boolean areForBytes(List<StoredMatrix> blocks) {
        var first = Panel.of(blocks.getFirst().codes().type(), Compute.INT8);
        return first.isPresent()
                && blocks.stream()
                        .map(block -> Panel.of(block.codes().type(), Compute.INT8))
                        .allMatch(panel -> panel.isPresent()
                                && panel.get().hasNibbles() == first.get().hasNibbles());
    }

    public GemmKernels kernels(Compute compute) {
        return java.util.Objects.requireNonNull(kernels.get(compute));
    }

    /** Remembers the precision of a weight that was loaded. */
    public void use(Compute compute) {
        hasRounded |= compute == Compute.BF16 || compute == Compute.INT8;
        hasSplit |= compute == Compute.SPLIT;
    }

    /** The precision of attention: that of products, which is bfloat16 where any weight's is, else split where any weight's is. */
    public Compute attention() {
        return switch (precision) {
            case F32 -> Compute.F32;
            case BF16 -> Compute.BF16;
            case AUTO, SPLIT, INT8 -> hasRounded ? Compute.BF16 : hasSplit ? Compute.SPLIT : Compute.F32;
        };
    }

    /** What turns weights and keys for products of a precision; weights for products of bytes lie as for the others. */
    public TileKernels tiles(Compute compute) {
        return java.util.Objects.requireNonNull(tiles.get(compute == Compute.INT8 ? Compute.F32 : compute));
    }

    /** What is done to rows number by number; empty where the Vector API works. */
    public Optional<RowKernels> rows() {
        return rows;
    }

    /** Whether there is code at all. */
    public boolean isThere() {
        return !kernels.isEmpty();
    }

    /** Whether there is code for attention in a precision. */
    public boolean attends(Compute compute) {
        return tiles.containsKey(compute);
    }

    /** Whether products in a precision, those of attention too, are those of AMX tiles. */
    public boolean multipliesInTiles(Compute compute) {
        return (compute == Compute.BF16 || compute == Compute.SPLIT) && amx.isPresent();
    }

    /** Whether there is code for a precision. */
    public boolean has(Compute compute) {
        return kernels.containsKey(compute);
    }

    /** Memory of the system's own pages, for weights that were repacked and whatever else is large. */
    public OwnedMemory memory() {
        return memory;
    }

    CpuPath path() {
        return path;
    }

    /** The path and why it is this one, and how it multiplies weights of each of these types. */
    public String describe(Collection<DataType> types) {
        String each = types.stream().map(this::describe).collect(Collectors.joining(", "));
        return path.label() + " (" + reason + ")" + (each.isEmpty() ? "" : ": " + each);
    }

    private String describe(DataType type) {
        if (kernels.isEmpty()) {
            return type.label() + " in float32";
        }
        if (has(Compute.INT8) && Panel.of(type, Compute.INT8).isPresent()) {
            return type.label() + " with activations of 8 bits";
        }
        if (has(Compute.SPLIT) && type == DataType.F32) {
            return "f32 split into two of bfloat16 each in AMX tiles";
        }
        Compute compute = precision.of(type);
        if (Panel.of(type, compute).isEmpty()) {
            return type.label() + " in float32 by the Vector API, for want of machine code that reads it";
        }
        boolean isTiled = amx.isPresent() && compute == Compute.BF16;
        String how = isTiled ? " in AMX tiles" : amx.isPresent() ? " by AVX-512" : "";
        return type.label() + (compute == Compute.F32 ? " in float32" : " in bfloat16") + how;
    }

    /** The path, and why it is this one. */
    public String describe() {
        if (has(Compute.INT8)) {
            return path.label() + ", activations of 8 bits for Q8_0, Q4_0, Q4_1 and Q4_K (" + reason + ")";
        }
        String rounded = (path == CpuPath.BF16 || path == CpuPath.AMX) && precision != Precision.F32
                ? precision != Precision.BF16
                        ? ", bfloat16 for quantized and bf16 weights, "
                                + (has(Compute.SPLIT) ? "two of bfloat16 for each of f32, " : "")
                                + "float32 for others"
                        : ", bfloat16"
                : ", float32";
        return path.label() + rounded + " (" + reason + ")";
    }

    @Override
    public void close() {
        kernels.values().forEach(GemmKernels::close);
        kernels.clear();
        tiles.values().forEach(TileKernels::close);
        tiles.clear();
        rows.ifPresent(RowKernels::close);
        rows = Optional.empty();
        amx.ifPresent(AmxKernels::close);
        amx = Optional.empty();
        memory.close();
    }
}
