package roselle.model.config;

import static java.util.Map.entry;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import roselle.model.weights.Part;
import roselle.model.weights.WeightNames;

/** The names that most families share, in either format. */
public final class Names {
    private static final Map<Part, String> GGUF = Map.ofEntries(
            entry(Part.EMBEDDING, "token_embd"),
            entry(Part.POSITIONS, "position_embd"),
            entry(Part.FINAL_NORM, "output_norm"),
            entry(Part.OUTPUT, "output"),
            entry(Part.ATTENTION_NORM, "blk.{layer}.attn_norm"),
            entry(Part.POST_ATTENTION_NORM, "blk.{layer}.post_attention_norm"),
            entry(Part.FEED_FORWARD_NORM, "blk.{layer}.ffn_norm"),
            entry(Part.POST_FEED_FORWARD_NORM, "blk.{layer}.post_ffw_norm"),
            entry(Part.QUERY, "blk.{layer}.attn_q"),
            entry(Part.KEY, "blk.{layer}.attn_k"),
            entry(Part.VALUE, "blk.{layer}.attn_v"),
            entry(Part.QUERY_KEY_VALUE, "blk.{layer}.attn_qkv"),
            entry(Part.ATTENTION_OUTPUT, "blk.{layer}.attn_output"),
            entry(Part.QUERY_NORM, "blk.{layer}.attn_q_norm"),
            entry(Part.KEY_NORM, "blk.{layer}.attn_k_norm"),
            entry(Part.SINKS, "blk.{layer}.attn_sinks"),
            entry(Part.ATTENTION_GATE, "blk.{layer}.attn_gate"),
            entry(Part.EXPERTS_INPUT, "blk.{layer}.ffn_latent_down"),
            entry(Part.EXPERTS_OUTPUT, "blk.{layer}.ffn_latent_up"),
            entry(Part.QUERY_DOWN, "blk.{layer}.attn_q_a"),
            entry(Part.QUERY_DOWN_NORM, "blk.{layer}.attn_q_a_norm"),
            entry(Part.QUERY_UP, "blk.{layer}.attn_q_b"),
            entry(Part.LATENT_DOWN, "blk.{layer}.attn_kv_a_mqa"),
            entry(Part.LATENT_NORM, "blk.{layer}.attn_kv_a_norm"),
            entry(Part.LATENT_UP, "blk.{layer}.attn_kv_b"),
            entry(Part.LATENT_KEY_UP, "blk.{layer}.attn_k_b"),
            entry(Part.LATENT_VALUE_UP, "blk.{layer}.attn_v_b"),
            entry(Part.INDEX_QUERY, "blk.{layer}.indexer.attn_q_b"),
            entry(Part.INDEX_KEY, "blk.{layer}.indexer.attn_k"),
            entry(Part.INDEX_KEY_NORM, "blk.{layer}.indexer.k_norm"),
            entry(Part.INDEX_WEIGHT, "blk.{layer}.indexer.proj"),
            entry(Part.GATE, "blk.{layer}.ffn_gate"),
            entry(Part.UP, "blk.{layer}.ffn_up"),
            entry(Part.DOWN, "blk.{layer}.ffn_down"),
            entry(Part.ROUTER, "blk.{layer}.ffn_gate_inp"),
            entry(Part.ROUTER_CORRECTION, "blk.{layer}.exp_probs_b.bias"),
            entry(Part.EXPERT_GATE, "blk.{layer}.ffn_gate_exps"),
            entry(Part.EXPERT_UP, "blk.{layer}.ffn_up_exps"),
            entry(Part.EXPERT_DOWN, "blk.{layer}.ffn_down_exps"),
            entry(Part.EXPERT_GATE_UP, "blk.{layer}.ffn_gate_up_exps"),
            entry(Part.SHARED_GATE, "blk.{layer}.ffn_gate_shexp"),
            entry(Part.SHARED_UP, "blk.{layer}.ffn_up_shexp"),
            entry(Part.SHARED_DOWN, "blk.{layer}.ffn_down_shexp"),
            entry(Part.SHARED_EXPERT_GATE, "blk.{layer}.ffn_gate_inp_shexp"));

    private static final String LAYER = "model.layers.{layer}.";
    private static final Map<Part, String> HUGGING_FACE = Map.ofEntries(
            entry(Part.EMBEDDING, "model.embed_tokens"),
            entry(Part.FINAL_NORM, "model.norm"),
            entry(Part.OUTPUT, "lm_head"),
            entry(Part.ATTENTION_NORM, LAYER + "input_layernorm"),
            entry(Part.FEED_FORWARD_NORM, LAYER + "post_attention_layernorm"),
            entry(Part.QUERY, LAYER + "self_attn.q_proj"),
            entry(Part.KEY, LAYER + "self_attn.k_proj"),
            entry(Part.VALUE, LAYER + "self_attn.v_proj"),
            entry(Part.ATTENTION_OUTPUT, LAYER + "self_attn.o_proj"),
            entry(Part.QUERY_NORM, LAYER + "self_attn.q_norm"),
            entry(Part.KEY_NORM, LAYER + "self_attn.k_norm"),
            entry(Part.GATE, LAYER + "mlp.gate_proj"),
            entry(Part.UP, LAYER + "mlp.up_proj"),
            entry(Part.DOWN, LAYER + "mlp.down_proj"),
            entry(Part.ROUTER, LAYER + "mlp.gate"),
            entry(Part.EXPERT_GATE, LAYER + "mlp.experts.{expert}.gate_proj"),
            entry(Part.EXPERT_UP, LAYER + "mlp.experts.{expert}.up_proj"),
            entry(Part.EXPERT_DOWN, LAYER + "mlp.experts.{expert}.down_proj"));

    private Names() {}

    /** GGUF's names, or Llama's in Hugging Face's format with some replaced; of a decoder without its head, bare ones. */
    public static WeightNames of(ModelConfig config, Map<Part, String> replaced) {
        if (config.isGguf()) {
            return gguf();
        }
        WeightNames names = huggingFace().with(replaced);
        return config.hasTensor("embed_tokens.weight") ? bare(names) : names;
    }

    /** The names of a decoder that was saved without what stands around it, as those that embed are. */
    private static WeightNames bare(WeightNames names) {
        var all = new EnumMap<Part, String>(Part.class);
        names.templates().forEach((part, name) -> all.put(part, name.replaceFirst("^model\\.", "")));
        return names.with(all);
    }

    public static WeightNames gguf() {
        return new WeightNames(GGUF, WeightNames.Layout.PLAIN);
    }

    public static WeightNames huggingFace() {
        return new WeightNames(HUGGING_FACE, WeightNames.Layout.PLAIN);
    }

    /** GGUF's names where gate and up are one tensor. */
    public static WeightNames ggufWithFusedGate() {
        return gguf().with(Map.of(Part.GATE_UP, "blk.{layer}.ffn_up"));
    }

    /** The prefix of a layer's names in most of Hugging Face's checkpoints. */
    public static String layer(String name) {
        return LAYER + name;
    }

    /** What begins the names of a decoder beside an encoder of pictures, by releases of Hugging Face's library. */
    private static final List<String> WRAPPERS =
            List.of("model.language_model.", "model.text_model.", "language_model.model.", "model.");

    /** Hugging Face's names where the decoder is wrapped beside an encoder of pictures: as the checkpoint's embedding is called. */
    public static WeightNames wrapped(ModelConfig config, WeightNames names) {
        String wrapper = WRAPPERS.stream()
                .filter(one -> config.hasTensor(one + "embed_tokens.weight"))
                .findFirst()
                .orElse(WRAPPERS.getFirst());
        String aside = wrapper.startsWith("language_model.") ? "language_model." : "";
        var all = new EnumMap<Part, String>(Part.class);
        names.templates()
                .forEach((part, name) -> all.put(
                        part, name.startsWith("model.") ? wrapper + name.substring("model.".length()) : aside + name));
        return names.with(all);
    }
}
