package roselle.quantization;

import java.util.List;
import java.util.Set;

/**
 * {@code awq} as AutoAWQ's GEMM layout has it: {@code qweight [inputs, outputs / 8]}, zeros {@code [groups, outputs / 8]}, of eight
 * outputs in a word the even ones first, and {@code scales [groups, outputs]}.
 */
final class Awq {
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
    private static final QuantizedModules.Layout LAYOUT = new QuantizedModules.Layout(false, true, 0, false);

    private Awq() {}

    static Quantization read(MethodFields fields) {
        fields.requireOnly(FIELDS);
        fields.requireOneOf("version", List.of("gemm", "GEMM"));
        fields.modules("modules_to_not_convert"); // what is converted is told by its tensors
        if (!fields.config().flag("zero_point", true)) {
            throw fields.unsupported("zero_point", "false", "true");
        }
        return new QuantizedModules("awq", GroupFields.of(fields, Set.of(4)), LAYOUT);
    }
}
