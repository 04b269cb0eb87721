package roselle.quantization;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import roselle.api.CheckpointException;
import roselle.checkpoint.Metadata;
import roselle.checkpoint.summary.ModelSummary.TypeUse;
import roselle.tensor.DataType;
import roselle.tensor.Dequantizer;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/**
 * {@code compressed-tensors}: whole numbers in words ({@code pack-quantized}) or bytes ({@code int-quantized}), FP8
 * ({@code float-quantized}) and small floats ({@link SmallFloats}), with {@code weight_scale} for a tensor, a row, a group or a
 * block. How activations would be rounded is read over: they stay as they are.
 */
final class CompressedTensors implements Quantization {
    private static final Set<String> FIELDS = Set.of(
            "quant_method",
            "format",
            "config_groups",
            "ignore",
            "quantization_status",
            "global_compression_ratio",
            "sparsity_config",
            "transform_config",
            "kv_cache_scheme",
            "version");
    private static final Set<String> EMPTY = Set.of("sparsity_config", "transform_config", "kv_cache_scheme");
    static final List<String> FORMATS = List.of(
            "pack-quantized",
            "int-quantized",
            "float-quantized",
            "naive-quantized",
            "nvfp4-pack-quantized",
            "mxfp4-pack-quantized",
            "mxfp8-quantized",
            "mixed-precision");
    private static final String PACKED = ".weight_packed";
    private static final String WEIGHT = ".weight";
    private static final Set<String> BESIDE = Set.of(
            "weight_scale",
            "weight_global_scale",
            "weight_zero_point",
            "weight_g_idx",
            "weight_shape",
            "input_scale",
            "input_global_scale",
            "input_zero_point");

    private static final int HALF = 128; // what signed bytes lack

    private final ModulePatterns ignored;
    private final List<Target> groups = new ArrayList<>();

    /** How the weights of some modules are stored. */
    private record Target(ModulePatterns modules, WeightArguments weights) {}

    CompressedTensors(MethodFields fields) {
        fields.requireOnly(FIELDS);
        fields.requireOneOf("format", FORMATS);
        Metadata config = fields.config();
        for (String key : EMPTY) {
            if (config.has(key)
                    && !config.object(key).map(Metadata::keys).orElse(Set.of()).isEmpty()) {
                throw fields.unsupported(key, "there", "nothing");
            }
        }
        ignored = new ModulePatterns(fields, fields.modules("ignore"));
        Metadata all = config.object("config_groups")
                .filter(found -> !found.keys().isEmpty())
                .orElseThrow(() -> fields.unsupported("config_groups", "not there", "an object of groups"));
        for (String name : new TreeSet<>(all.keys())) {
            var group = fields.within(all.object(name)
                    .orElseThrow(() -> fields.unsupported("config_groups." + name, "null", "an object")));
            groups.add(new Target(new ModulePatterns(group, group.modules("targets")), WeightArguments.of(group)));
        }
    }

    @Override
    public Optional<String> description() {
        return Optional.of("compressed-tensors: "
                + String.join(
                        "; ",
                        groups.stream()
                                .map(group -> group.weights().describe())
                                .distinct()
                                .toList()));
    }

    @Override
    public StoredMatrix matrix(Tensor codes, NamedTensors tensors) {
        return StoredMatrix.of(codes);
    }

    @Override
    public Optional<String> codesEnding() {
        return Optional.of(PACKED);
    }

    @Override
    public Optional<StoredMatrix> integers(String base, Shape shape, NamedTensors tensors, Copies copies) {
        Optional<Tensor> packed = tensors.find(base + PACKED);
        if (packed.isEmpty() && tensors.find(base + ".weight_scale").isEmpty()) {
            requirePlain(base, tensors);
            return Optional.empty();
        }
        if (ignored.match(base)) {
            throw new CheckpointException(tensors.source() + ": " + base + " has codes and scales, but " + FIELD
                    + " says that it is ignored");
        }
        WeightArguments weights = argumentsOf(base, tensors);
        tensors.find(base + ".input_scale"); // of activations, which are not rounded
        tensors.find(base + ".input_global_scale");
        tensors.find(base + ".input_zero_point");
        Group group = weights.group(shape);
        var parts = new IntegerGroups(tensors, base, shape, group);
        if (weights.isNvfp4()) {
            float overall = SmallFloats.one(parts, ".weight_global_scale");
            return Optional.of(SmallFloats.nvfp4(parts, PACKED, scale -> scale / overall, copies));
        }
        if (weights.isMxfp4()) {
            return Optional.of(SmallFloats.mxfp4(parts, PACKED, copies));
        }
        if (weights.isFloat() && hasExponents(base, tensors)) {
            return Optional.of(SmallFloats.mxfp8(parts, copies));
        }
        Tensor scales = scales(parts, weights, base, tensors);
        if (packed.isPresent()) {
            return Optional.of(words(parts, weights, scales, copies));
        }
        return Optional.of(
                weights.isFloat()
                        ? new StoredMatrix.Scaled(
                                parts.required(WEIGHT, DataType.F8_E4M3, shape), new GroupScales(group, scales, 0))
                        : bytes(parts, weights, scales, copies));
    }

    private static void requirePlain(String base, NamedTensors tensors) {
        if (tensors.find(base + WEIGHT)
                .filter(weight -> weight.type() == DataType.F8_E4M3)
                .isPresent()) {
            throw new CheckpointException(
                    tensors.source() + ": tensor " + base + ".weight_scale is missing; the file is not complete");
        }
    }

    private static boolean hasExponents(String base, NamedTensors tensors) {
        return tensors.find(base + ".weight_scale")
                .filter(scales -> scales.type() == DataType.U8)
                .isPresent();
    }

    private WeightArguments argumentsOf(String base, NamedTensors tensors) {
        for (boolean byClass : new boolean[] {false, true}) {
            for (Target group : groups) {
                if (byClass ? group.modules().haveClass() : group.modules().match(base)) {
                    return group.weights();
                }
            }
        }
        throw new CheckpointException(tensors.source() + ": " + base + " has codes and scales, but no group of " + FIELD
                + " has it as a target");
    }

    /** Scales in the shape of a grid, which vectors and lone numbers stand for, too. */
    private static Tensor scales(IntegerGroups parts, WeightArguments weights, String base, NamedTensors tensors) {
        Shape grid = parts.grid();
        String name = base + ".weight_scale";
        Optional<Tensor> given = tensors.find(name);
        boolean isVector = weights.hasOneScaleForEachRow()
                && given.isPresent()
                && given.get().shape().rank() < 2
                && given.get().shape().elements() == grid.elements();
        return parts.scales(".weight_scale", isVector ? given.get().shape() : grid, grid);
    }

    private static StoredMatrix words(IntegerGroups parts, WeightArguments weights, Tensor scales, Copies copies) {
        int bits = weights.bits();
        if (weights.isFloat() || bits > Byte.SIZE) {
            throw parts.failure(parts.base() + PACKED, "has words, but " + FIELD + " says " + weights.describe());
        }
        requireShape(parts);
        Shape shape = parts.shape();
        Shape grid = parts.grid();
        var codes = new PackedWords(
                parts.required(
                        PACKED, DataType.I32, Shape.of(shape.rows(), PackedWords.wordsOf(shape.columns(), bits))),
                bits,
                false,
                false);
        int half = 1 << (bits - 1);
        IntegerGroups.Stored zeros = (row, group) -> half;
        if (!weights.isSymmetric()) {
            var stored = new PackedWords(
                    parts.required(
                            ".weight_zero_point",
                            DataType.I32,
                            Shape.of(PackedWords.wordsOf(shape.rows(), bits), grid.columns())),
                    bits,
                    true,
                    false);
            zeros = (row, group) -> stored.at(group, row);
        }
        var bound = new GroupScales(parts.columns(), scales, 0, parts.order(".weight_g_idx"));
        return parts.bind(bits, codes::at, zeros, bound, copies);
    }

    private static void requireShape(IntegerGroups parts) {
        Tensor stored = parts.required(".weight_shape", DataType.I64, Shape.of(2));
        var numbers = Dequantizer.all(stored);
        if (numbers[0] != parts.shape().rows() || numbers[1] != parts.shape().columns()) {
            throw parts.failure(
                    stored.name(),
                    "says [" + (long) numbers[0] + ", " + (long) numbers[1] + "], expected " + parts.shape());
        }
    }

    private static StoredMatrix bytes(IntegerGroups parts, WeightArguments weights, Tensor scales, Copies copies) {
        Tensor codes = parts.required(WEIGHT, DataType.I8, parts.shape());
        var bound = new GroupScales(parts.columns(), scales, 0, parts.order(".weight_g_idx"));
        if (weights.isSymmetric()) {
            return new StoredMatrix.Scaled(codes, bound);
        }
        Tensor zeros = parts.required(".weight_zero_point", DataType.I8, parts.grid());
        if (GroupFields.areZeros(zeros)) {
            return new StoredMatrix.Scaled(codes, bound);
        }
        long columns = parts.shape().columns();
        long groups = parts.grid().columns();
        return parts.bind(
                Byte.SIZE,
                (row, column) -> codes.data().get(JAVA_BYTE, row * columns + column) + HALF,
                (row, group) ->
                        zeros.data().get(JAVA_BYTE, row / parts.columns().rows() * groups + group) + HALF,
                bound,
                copies);
    }

    @Override
    public TypeUse use(Tensor tensor) {
        long bytes = tensor.data().byteSize();
        if (tensor.type() == DataType.I32 && tensor.name().endsWith(PACKED)) {
            int bits = groups.getFirst().weights().bits();
            return new TypeUse(DataType.I32, 1, bytes * Byte.SIZE / bits, bytes);
        }
        if (tensor.type() == DataType.U8 && tensor.name().endsWith(PACKED)) {
            return new TypeUse(DataType.U8, 1, 2 * bytes, bytes);
        }
        return isScales(tensor.name()) ? new TypeUse(tensor.type(), 0, 0, bytes) : TypeUse.of(tensor);
    }

    @Override
    public boolean isScales(String name) {
        return BESIDE.contains(name.substring(name.lastIndexOf('.') + 1));
    }
}
