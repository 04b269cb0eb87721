package roselle.checkpoint.conversion;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import roselle.api.CheckpointException;

/**
 * The families that are converted, by what llama.cpp's {@code conversion} makes of them.
 *
 * <p>Names are those of modules, without {@code .weight} and {@code .bias}, and of a layer behind {@code model.layers.N.}.
 */
enum Family {
    LLAMA("llama", "llama", true, 0, Map.of()),
    MISTRAL("mistral", "llama", true, 0, Map.of()),
    QWEN2("qwen2", "qwen2", false, 0, Map.of()),
    QWEN3("qwen3", "qwen3", false, 0, Names.NORMS_OF_HEADS),
    GEMMA("gemma", "gemma", false, 1, Map.of()),
    GEMMA2("gemma2", "gemma2", false, 1, Names.NORMS_ON_BOTH_SIDES),
    GEMMA3("gemma3_text", "gemma3", false, 1, Names.NORMS_OF_BOTH),
    PHI(
            "phi",
            "phi2",
            false,
            0,
            Map.of(
                    "model.final_layernorm", "output_norm",
                    "self_attn.dense", "attn_output",
                    "mlp.fc1", "ffn_up",
                    "mlp.fc2", "ffn_down")),
    PHI3("phi3", "phi3", false, 0, Map.of("self_attn.qkv_proj", "attn_qkv", "mlp.gate_up_proj", "ffn_up"));

    private static final String LAYERS = "model.layers.";

    private final String modelType;
    private final String architecture;
    private final boolean interleavesHeads;
    private final float normOffset;

    @SuppressWarnings("ImmutableEnumChecker") // a copy that nobody changes
    private final Map<String, String> names;

    /** Names that families share. */
    private static final class Names {
        static final Map<String, String> COMMON = Map.ofEntries(
                Map.entry("model.embed_tokens", "token_embd"),
                Map.entry("model.norm", "output_norm"),
                Map.entry("lm_head", "output"),
                Map.entry("input_layernorm", "attn_norm"),
                Map.entry("post_attention_layernorm", "ffn_norm"),
                Map.entry("self_attn.q_proj", "attn_q"),
                Map.entry("self_attn.k_proj", "attn_k"),
                Map.entry("self_attn.v_proj", "attn_v"),
                Map.entry("self_attn.o_proj", "attn_output"),
                Map.entry("mlp.gate_proj", "ffn_gate"),
                Map.entry("mlp.up_proj", "ffn_up"),
                Map.entry("mlp.down_proj", "ffn_down"));
        static final Map<String, String> NORMS_OF_HEADS =
                Map.of("self_attn.q_norm", "attn_q_norm", "self_attn.k_norm", "attn_k_norm");
        static final Map<String, String> NORMS_ON_BOTH_SIDES = Map.of(
                "post_attention_layernorm", "post_attention_norm",
                "pre_feedforward_layernorm", "ffn_norm",
                "post_feedforward_layernorm", "post_ffw_norm");
        static final Map<String, String> NORMS_OF_BOTH = both(NORMS_OF_HEADS, NORMS_ON_BOTH_SIDES);

        private static Map<String, String> both(Map<String, String> one, Map<String, String> other) {
            var all = new HashMap<>(one);
            all.putAll(other);
            return Map.copyOf(all);
        }
    }

    /**
     * A family.
     *
     * @param modelType {@code model_type} of config.json
     * @param architecture {@code general.architecture}
     * @param interleavesHeads whether GGUF has the two halves of queries' and keys' heads alternate
     * @param normOffset what GGUF's norms have more than the folder's
     * @param own names that others do not have, or have for something else
     */
    Family(String modelType, String architecture, boolean interleavesHeads, float normOffset, Map<String, String> own) {
        this.modelType = modelType;
        this.architecture = architecture;
        this.interleavesHeads = interleavesHeads;
        this.normOffset = normOffset;
        names = Names.both(Names.COMMON, own);
    }

    static Family of(String modelType, String origin) {
        return Arrays.stream(values())
                .filter(family -> family.modelType.equals(modelType))
                .findFirst()
                .orElseThrow(() -> new CheckpointException(origin + ": models of type " + modelType
                        + " are not converted from safetensors; those of "
                        + Arrays.stream(values())
                                .map(family -> family.modelType)
                                .collect(Collectors.joining(", "))
                        + " are, others after llama.cpp's convert_hf_to_gguf.py"));
    }

    String architecture() {
        return architecture;
    }

    boolean interleavesHeads() {
        return interleavesHeads;
    }

    float normOffset() {
        return normOffset;
    }

    /** GGUF's name of a tensor; empty for one that the family does not have. */
    Optional<String> name(String tensor) {
        int dot = tensor.lastIndexOf('.');
        String module = dot < 0 ? tensor : tensor.substring(0, dot);
        String ending = dot < 0 ? "" : tensor.substring(dot);
        if (!ending.equals(".weight") && !ending.equals(".bias")) {
            return Optional.empty();
        }
        if (!module.startsWith(LAYERS)) {
            return Optional.ofNullable(names.get(module)).map(name -> name + ending);
        }
        int end = module.indexOf('.', LAYERS.length());
        String number = end < 0 ? "" : module.substring(LAYERS.length(), end);
        return number.isEmpty() || !number.chars().allMatch(digit -> digit >= '0' && digit <= '9')
                ? Optional.empty()
                : Optional.ofNullable(names.get(module.substring(end + 1)))
                        .map(name -> "blk." + number + "." + name + ending);
    }
}
