package roselle.quantization;

import java.util.List;
import java.util.Set;

/**
 * {@code gptq}: codes of a module's outputs in words that follow its inputs, {@code qweight [inputs * bits / 32, outputs]};
 * zeros, one less than they are but in {@code gptq_v2}, in words that follow the outputs; {@code scales [groups, outputs]};
 * and, where inputs were ordered by their weight, the group of each in {@code g_idx} (AutoGPTQ, GPTQModel).
 */
final class Gptq {
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

    private Gptq() {}

    static Quantization read(MethodFields fields) {
        fields.requireOnly(FIELDS);
        fields.requireOneOf("checkpoint_format", List.of("gptq", "gptq_v2"));
        fields.requireOneOf("pack_dtype", List.of("int32"));
        int lessThanZero = fields.config().string("checkpoint_format", "gptq").equals("gptq") ? 1 : 0;
        // old files have a bias of zeros for each module, whatever the architecture
        var layout = new QuantizedModules.Layout(true, false, lessThanZero, true);
        return new QuantizedModules("gptq", GroupFields.of(fields, Set.of(2, 3, 4, 8)), layout);
    }
}
