package roselle.quantization;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import roselle.checkpoint.summary.ModelSummary.TypeUse;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/**
 * {@code awq} as AutoAWQ's GEMM layout has it: {@code qweight [inputs, outputs / 8]}, zeros {@code [groups, outputs / 8]}, of eight
 * outputs in a word the even ones first, and {@code scales [groups, outputs]}.
 */
final class Awq implements Quantization {
    private static final Set<String> FIELDS = Set.of(
            "quant_method",
            "bits",
            "group_size",
            "zero_point",
            "version",
            "modules_to_not_convert",
            "backend",
            "do_fuse",
            "exllama_config",
            "fuse_max_seq_len",
            "modules_to_fuse");
    private static final String CODES = ".qweight";
    private static final Set<String> BESIDE = Set.of("qzeros", "scales");

    private final GroupFields groups;

    Awq(MethodFields fields) {
        fields.requireOnly(FIELDS);
        fields.requireOneOf("version", List.of("gemm", "GEMM"));
        fields.modules("modules_to_not_convert"); // what is converted is told by its tensors
        if (!fields.config().flag("zero_point", true)) {
            throw fields.unsupported("zero_point", "false", "true");
        }
        groups = GroupFields.of(fields, Set.of(4));
    }

    @Override
    public Optional<String> description() {
        return Optional.of("awq: " + groups.describe());
    }

    @Override
    public StoredMatrix matrix(Tensor codes, NamedTensors tensors) {
        return StoredMatrix.of(codes);
    }

    @Override
    public Optional<String> codesEnding() {
        return Optional.of(CODES);
    }

    @Override
    public Optional<StoredMatrix> integers(String base, Shape shape, NamedTensors tensors, Copies copies) {
        if (tensors.find(base + CODES).isEmpty()) {
            return Optional.empty();
        }
        int bits = groups.bits();
        var parts = new IntegerGroups(tensors, base, shape, groups.of(shape));
        Shape turned = Shape.of(parts.grid().columns(), shape.rows());
        long across = PackedWords.wordsOf(shape.rows(), bits);
        Tensor codes = parts.required(CODES, DataType.I32, Shape.of(shape.columns(), across));
        Tensor zeros = parts.required(".qzeros", DataType.I32, Shape.of(turned.rows(), across));
        if (shape.rows() % 8 != 0) {
            throw parts.failure(base + CODES, "has " + shape.rows() + " outputs, which is not a multiple of 8");
        }
        Tensor scales = parts.scales(".scales", turned);
        var ofCodes = new PackedWords(codes, bits, false, true);
        var ofZeros = new PackedWords(zeros, bits, false, true);
        return Optional.of(parts.bind(
                bits,
                (row, column) -> ofCodes.at(column, row),
                (row, group) -> ofZeros.at(group, row),
                new GroupScales(groups.of(shape), copies.turned(scales), 0),
                copies));
    }

    @Override
    public TypeUse use(Tensor tensor) {
        return groups.use(tensor, CODES, isScales(tensor.name()));
    }

    @Override
    public boolean isScales(String name) {
        return BESIDE.contains(name.substring(name.lastIndexOf('.') + 1));
    }
}
