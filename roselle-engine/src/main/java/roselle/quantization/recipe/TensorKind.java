package roselle.quantization.recipe;

/** What a tensor does, as far as mixes tell tensors apart. */
enum TensorKind {
    EMBEDDING,
    OUTPUT,
    QUERY,
    KEY,
    VALUE,
    QUERY_KEY_VALUE,
    LATENT_UP,
    ATTENTION_OUTPUT,
    DOWN,
    OTHER;

    /** By its name in GGUF. */
    static TensorKind of(String name) {
        if (name.equals("output.weight")) {
            return OUTPUT;
        }
        if (name.equals("token_embd.weight")) {
            return EMBEDDING;
        }
        if (name.contains("attn_qkv.weight")) {
            return QUERY_KEY_VALUE;
        }
        if (name.contains("attn_kv_b.weight")) {
            return LATENT_UP;
        }
        if (name.contains("attn_v.weight")) {
            return VALUE;
        }
        if (name.contains("attn_k.weight")) {
            return KEY;
        }
        if (name.contains("attn_q.weight")) {
            return QUERY;
        }
        if (name.contains("attn_output.weight")) {
            return ATTENTION_OUTPUT;
        }
        return name.contains("ffn_down") ? DOWN : OTHER;
    }

    /** Whether it makes values, which errors hurt most. */
    boolean makesValues() {
        return switch (this) {
            case VALUE, QUERY_KEY_VALUE, LATENT_UP -> true;
            case EMBEDDING, OUTPUT, QUERY, KEY, ATTENTION_OUTPUT, DOWN, OTHER -> false;
        };
    }

    /** Whether tensors of a name are ever quantized; the others are small or choose experts. */
    static boolean isQuantized(String name, int rank) {
        return rank >= 2
                && name.endsWith("weight")
                && !name.contains("_norm.weight")
                && !name.contains("ffn_gate_inp")
                && !name.equals("position_embd.weight")
                && !name.equals("token_types.weight");
    }
}
