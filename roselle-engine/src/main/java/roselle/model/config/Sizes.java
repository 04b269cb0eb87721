package roselle.model.config;

import roselle.api.CheckpointException;

/** The extents that every decoder has, under the names that most families share. */
public record Sizes(
        int vocabulary, int width, int layers, int heads, int keyHeads, int headSize, int inner, int context) {
    private static final int MAX_LAYERS = 1_000;
    private static final int MAX_HEADS = 10_000;
    public static final int MAX_NUMBERS = 10_000_000;
    static final int MAX_POSITIONS = 1 << 30;

    public static Sizes of(ModelConfig config) {
        int heads = config.size("num_attention_heads", "attention.head_count", MAX_HEADS);
        return of(config, config.size("num_key_value_heads", "attention.head_count_kv", MAX_HEADS, heads));
    }

    /** The same with so many key heads, where their number is said for each layer. */
    public static Sizes of(ModelConfig config, int keyHeads) {
        return of(config, keyHeads, inner(config));
    }

    /** The same where the size of the feed-forward is said for each layer, too. */
    public static Sizes of(ModelConfig config, int keyHeads, int inner) {
        return of(config, keyHeads, inner, config.size("num_hidden_layers", "block_count", MAX_LAYERS));
    }

    /** The same with so many layers, where their kinds say it. */
    public static Sizes of(ModelConfig config, int keyHeads, int inner, int layers) {
        int heads = config.size("num_attention_heads", "attention.head_count", MAX_HEADS);
        return of(config, heads, keyHeads, inner, layers);
    }

    /** The same with so many heads, where their number, too, is said for each layer. */
    public static Sizes of(ModelConfig config, int heads, int keyHeads, int inner, int layers) {
        int width = config.size("hidden_size", "embedding_length", MAX_NUMBERS);
        requireShare(config, heads, keyHeads);
        return new Sizes(
                vocabulary(config),
                width,
                layers,
                heads,
                keyHeads,
                config.size("head_dim", "attention.key_length", MAX_NUMBERS, Math.max(1, width / heads)),
                inner,
                config.size("max_position_embeddings", "context_length", MAX_POSITIONS));
    }

    /** The same without layers at the end that predict further tokens. */
    public Sizes withoutLayers(int count) {
        return new Sizes(vocabulary, width, layers - count, heads, keyHeads, headSize, inner, context);
    }

    /** The same made for sequences of so many tokens. */
    public Sizes withContext(int tokens) {
        return new Sizes(vocabulary, width, layers, heads, keyHeads, headSize, inner, tokens);
    }

    /**
     * The sizes of a decoder all of whose layers keep states: it has no heads that attend, no feed-forward, and no longest text.
     */
    public static Sizes ofStates(ModelConfig config) {
        return new Sizes(
                vocabulary(config),
                config.size("hidden_size", "embedding_length", MAX_NUMBERS),
                config.size("num_hidden_layers", "block_count", MAX_LAYERS),
                1,
                1,
                1,
                1,
                config.size("max_position_embeddings", "context_length", MAX_POSITIONS, UNLIMITED));
    }

    private static final int UNLIMITED = 1 << 20; // as llama.cpp's converter has it

    /** What a family calls its sizes in config.json; GGUF has one name for each. */
    public record Fields(String width, String layers, String heads, String inner, String context) {}

    /**
     * Sizes under names of a family's own.
     *
     * @param keyHeads heads of keys and values; 0 for as many as there are heads
     * @param innerTimes by what the width is multiplied where the feed-forward's size is not said
     */
    public static Sizes of(ModelConfig config, Fields fields, int keyHeads, int innerTimes) {
        int width = config.size(fields.width(), "embedding_length", MAX_NUMBERS);
        int heads = config.size(fields.heads(), "attention.head_count", MAX_HEADS);
        int shared = keyHeads == 0 ? heads : keyHeads;
        requireShare(config, heads, shared);
        return new Sizes(
                vocabulary(config),
                width,
                config.size(fields.layers(), "block_count", MAX_LAYERS),
                heads,
                shared,
                Math.max(1, width / heads),
                config.size(fields.inner(), "feed_forward_length", MAX_NUMBERS, innerTimes * width),
                config.size(fields.context(), "context_length", MAX_POSITIONS, UNSAID));
    }

    private static final int UNSAID = 2048;

    /** The sizes of DistilBERT, whose configuration has names of its own. */
    public static Sizes ofDistilBert(ModelConfig config) {
        int width = config.size("dim", "", MAX_NUMBERS);
        int heads = config.size("n_heads", "", MAX_HEADS);
        return new Sizes(
                vocabulary(config),
                width,
                config.size("n_layers", "", MAX_LAYERS),
                heads,
                heads,
                Math.max(1, width / heads),
                config.size("hidden_dim", "", MAX_NUMBERS),
                config.size("max_position_embeddings", "", MAX_POSITIONS));
    }

    /** The sizes of GPT-2, whose configuration has names of its own. */
    public static Sizes ofGpt2(ModelConfig config) {
        int width = config.size("n_embd", "embedding_length", MAX_NUMBERS);
        int heads = config.size("n_head", "attention.head_count", MAX_HEADS);
        requireShare(config, heads, heads);
        return new Sizes(
                vocabulary(config),
                width,
                config.size("n_layer", "block_count", MAX_LAYERS),
                heads,
                heads,
                width / heads,
                config.size("n_inner", "feed_forward_length", MAX_NUMBERS, 4 * width),
                config.size("n_positions", "context_length", MAX_POSITIONS));
    }

    /** Of a feed-forward; a configuration may say only that of its experts, where every layer has some. */
    private static int inner(ModelConfig config) {
        boolean isOfExperts = !config.has("intermediate_size", "feed_forward_length")
                && config.has("moe_intermediate_size", "expert_feed_forward_length");
        return isOfExperts
                ? config.size("moe_intermediate_size", "expert_feed_forward_length", MAX_NUMBERS)
                : config.size("intermediate_size", "feed_forward_length", MAX_NUMBERS);
    }

    private static int vocabulary(ModelConfig config) {
        return config.isGguf() ? config.extent("token_embd.weight", 0) : config.size("vocab_size", "", MAX_NUMBERS);
    }

    private static void requireShare(ModelConfig config, int heads, int keyHeads) {
        if (heads % keyHeads != 0) {
            throw new CheckpointException(config.metadata().origin() + ": " + heads + " attention heads cannot share "
                    + keyHeads + " key heads evenly");
        }
    }
}
