package roselle.model.weights;

/** What a tensor of a checkpoint is for, whatever the checkpoint calls it. */
public enum Part {
    EMBEDDING,
    POSITIONS,
    TYPES,
    EMBEDDING_NORM,
    FINAL_NORM,
    OUTPUT,
    ATTENTION_NORM,
    POST_ATTENTION_NORM,
    FEED_FORWARD_NORM,
    POST_FEED_FORWARD_NORM,
    QUERY,
    KEY,
    VALUE,
    /** Query, key and value in one. */
    QUERY_KEY_VALUE,
    ATTENTION_OUTPUT,
    QUERY_NORM,
    KEY_NORM,
    SINKS,
    /** Queries, keys and values of a delta net in one. */
    DELTA_QUERY_KEY_VALUE,
    /** What gates a delta net's output. */
    DELTA_GATE,
    /** Queries, keys, values and gates of a delta net in one, those of a key head together. */
    DELTA_QUERY_KEY_VALUE_GATE,
    DELTA_A,
    DELTA_B,
    /** Both of a delta net in one, b before a, those of a key head together. */
    DELTA_B_A,
    /** How fast a delta net's states decay: a negative number for each head. */
    DELTA_RATE,
    /** The logarithm of its negative. */
    DELTA_RATE_LOGARITHM,
    DELTA_TIME_BIAS,
    DELTA_NORM,
    DELTA_OUTPUT,
    /** A convolution along the sequence. */
    CONVOLUTION,
    /** The products before a short convolution. */
    CONVOLUTION_INPUT,
    CONVOLUTION_OUTPUT,
    QUERY_DOWN,
    QUERY_DOWN_NORM,
    QUERY_UP,
    LATENT_DOWN,
    LATENT_NORM,
    /** What expands a latent into keys and values of all heads. */
    LATENT_UP,
    /** The same, keys alone, transposed per head. */
    LATENT_KEY_UP,
    LATENT_VALUE_UP,
    GATE,
    UP,
    /** Gate and up in one. */
    GATE_UP,
    DOWN,
    ROUTER,
    ROUTER_CORRECTION,
    EXPERT_GATE,
    EXPERT_UP,
    EXPERT_GATE_UP,
    EXPERT_DOWN,
    SHARED_GATE,
    SHARED_UP,
    SHARED_DOWN,
    SHARED_EXPERT_GATE
}
