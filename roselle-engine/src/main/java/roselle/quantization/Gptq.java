package roselle.quantization;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import roselle.checkpoint.summary.ModelSummary.TypeUse;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import roselle.tensor.Tensor;

/**
 * {@code gptq}: codes of a module's outputs in words that follow its inputs, {@code qweight [inputs * bits / 32, outputs]};
 * zeros, one less than they are but in {@code gptq_v2}, in words that follow the outputs; {@code scales [groups, outputs]};
 * and, where inputs were ordered by their weight, the group of each in {@code g_idx} (AutoGPTQ, GPTQModel).
 */
final class Gptq implements Quantization {
    private static final Set<String> FIELDS = Set.of(
            "quant_method",
            "bits",
            "group_size",
            "checkpoint_format",
            "desc_act",
            "sym",
            "true_sequential",
            "static_groups",
            "damp_percent",
            "damp_auto_increment",
            "dataset",
            "tokenizer",
            "batch_size",
            "block_name_to_quantize",
            "module_name_preceding_first_block",
            "modules_in_block_to_quantize",
            "model_seqlen",
            "max_input_length",
            "pad_token_id",
            "cache_block_outputs",
            "lm_head",
            "model_name_or_path",
            "model_file_base_name",
            "use_cuda_fp16",
            "use_exllama",
            "disable_exllama",
            "exllama_config",
            "backend",
            "pack_dtype",
            "meta");
    private static final String CODES = ".qweight";
    private static final Set<String> BESIDE = Set.of("qzeros", "scales", "g_idx");

    private final GroupFields groups;
    private final int lessThanZero;

    Gptq(MethodFields fields) {
        fields.requireOnly(FIELDS);
        fields.requireOneOf("checkpoint_format", List.of("gptq", "gptq_v2"));
        fields.requireOneOf("pack_dtype", List.of("int32"));
        groups = GroupFields.of(fields, Set.of(2, 3, 4, 8));
        lessThanZero = fields.config().string("checkpoint_format", "gptq").equals("gptq") ? 1 : 0;
    }

    @Override
    public Optional<String> description() {
        return Optional.of("gptq: " + groups.describe());
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
        long down = PackedWords.wordsOf(shape.columns(), bits);
        Tensor codes = parts.required(CODES, DataType.I32, Shape.of(down, shape.rows()));
        Tensor zeros = parts.required(
                ".qzeros", DataType.I32, Shape.of(turned.rows(), PackedWords.wordsOf(shape.rows(), bits)));
        Tensor scales = parts.scales(".scales", turned);
        Tensor order = parts.order(".g_idx");
        var ofCodes = new PackedWords(codes, bits, true, false);
        var ofZeros = new PackedWords(zeros, bits, false, false);
        return Optional.of(parts.bind(
                bits,
                ofCodes::at,
                (row, group) -> ofZeros.at(group, row) + lessThanZero,
                new GroupScales(groups.of(shape), copies.turned(scales), 0, order),
                copies));
    }

    /** Old files have a bias of zeros for each module, whatever the architecture. */
    @Override
    public boolean saysNothing(Tensor tensor) {
        return tensor.name().endsWith(".bias") && GroupFields.areZeros(tensor);
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
