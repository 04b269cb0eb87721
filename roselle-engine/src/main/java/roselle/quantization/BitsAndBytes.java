package roselle.quantization;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import roselle.api.CheckpointException;
import roselle.checkpoint.summary.ModelSummary.TypeUse;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/**
 * {@code bitsandbytes}: places in a table of 16 numbers (NF4, FP4) with a scale for each block of them ({@link FlatBlocks}), or
 * bytes and in {@code SCB} the 127-fold scale of each row. Activations stay as they are, so that no threshold parts them.
 */
final class BitsAndBytes implements Quantization {
    private static final Set<String> FIELDS = Set.of(
            "quant_method",
            "load_in_4bit",
            "load_in_8bit",
            "_load_in_4bit",
            "_load_in_8bit",
            "bnb_4bit_compute_dtype",
            "bnb_4bit_quant_storage",
            "bnb_4bit_quant_type",
            "bnb_4bit_use_double_quant",
            "llm_int8_enable_fp32_cpu_offload",
            "llm_int8_has_fp16_weight",
            "llm_int8_skip_modules",
            "llm_int8_threshold");
    private static final String WEIGHT = ".weight";
    private static final String ROW_SCALES = ".SCB";
    private static final String ROW_FORMAT = ".weight_format";
    private static final float STEP = 0.007874016f; // 1/127, as the library rounds it

    private final String description;

    BitsAndBytes(MethodFields fields) {
        fields.requireOnly(FIELDS);
        List<String> tables = List.of("nf4", "fp4");
        fields.requireOneOf("bnb_4bit_quant_type", tables);
        fields.modules("llm_int8_skip_modules"); // what is converted is told by its tensors
        boolean isFour = fields.config().flag("load_in_4bit", fields.config().flag("_load_in_4bit", false));
        description = isFour
                ? "4 bits (" + fields.config().string("bnb_4bit_quant_type", "fp4") + ")"
                        + (fields.config().flag("bnb_4bit_use_double_quant", false) ? ", scales of 8 bits" : "")
                : "8 bits with a scale for each row";
    }

    @Override
    public Optional<String> description() {
        return Optional.of("bitsandbytes: " + description);
    }

    @Override
    public StoredMatrix matrix(Tensor codes, NamedTensors tensors) {
        return StoredMatrix.of(codes);
    }

    @Override
    public Optional<StoredMatrix> integers(String base, Shape shape, NamedTensors tensors, Copies copies) {
        Optional<Tensor> state = FlatBlocks.state(tensors, base);
        if (state.isPresent()) {
            return Optional.of(FlatBlocks.of(state.get(), new IntegerGroups(tensors, base, shape, new Group(1, 1)))
                    .bind(copies));
        }
        return switch (tensors.find(base + WEIGHT).map(Tensor::type).orElse(DataType.F32)) {
            case I8 -> Optional.of(rows(base, shape, tensors, copies));
            case U8 ->
                throw new CheckpointException(tensors.source() + ": tensor " + base + WEIGHT + FlatBlocks.STATE
                        + "nf4 is missing; the file is not complete");
            default -> Optional.empty();
        };
    }

    private static StoredMatrix rows(String base, Shape shape, NamedTensors tensors, Copies copies) {
        Group row = new Group(1, shape.columns());
        var parts = new IntegerGroups(tensors, base, shape, row);
        Tensor codes = parts.required(WEIGHT, DataType.I8, shape);
        parts.optional(ROW_FORMAT, DataType.U8, Shape.of())
                .filter(format -> !GroupFields.areZeros(format))
                .ifPresent(format -> {
                    throw parts.failure(format.name(), "is not 0; supported are rows one after the other alone");
                });
        Tensor stored = parts.scales(ROW_SCALES, Shape.of(shape.rows()), parts.grid());
        var largest = new GroupScales(row, stored, 0);
        Tensor scales = copies.floats(stored.name(), parts.grid(), (at, group) -> largest.number(at) * STEP);
        return new StoredMatrix.Scaled(codes, new GroupScales(row, scales, 0));
    }

    /** A byte of codes is two numbers. */
    @Override
    public TypeUse use(Tensor tensor) {
        long bytes = tensor.data().byteSize();
        if (tensor.type() == DataType.U8 && tensor.name().endsWith(WEIGHT)) {
            return new TypeUse(DataType.U8, 1, 2 * bytes, bytes);
        }
        return isScales(tensor.name()) ? new TypeUse(tensor.type(), 0, 0, bytes) : TypeUse.of(tensor);
    }

    @Override
    public boolean isScales(String name) {
        return name.endsWith(ROW_SCALES) || name.endsWith(ROW_FORMAT) || FlatBlocks.isBeside(name);
    }
}
