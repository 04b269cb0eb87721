package roselle.model.weights;

/** What a tensor of a checkpoint is for, whatever the checkpoint calls it. */
public enum Part {
    EMBEDDING,
    POSITIONS,
    /** What attention adds to scores by distance: a row of heads for each kind of distance. */
    DISTANCES,
    /** A vector for each kind of distance, which queries and keys meet, and the norm of these. */
    DISTANCE_VECTORS,
    DISTANCE_NORM,
    TYPES,
    /** What adapters of tasks shrink tokens and types to, {@code [tasks, rows, rank]}, and expand that to. */
    TASKS_OF_TOKENS,
    TASKS_OF_TYPES,
    EMBEDDING_NORM,
    /** What each layer is told of each token, all layers in a row. */
    LAYER_INPUTS,
    /** What of an embedding is added to it. */
    LAYER_INPUT_PROJECTION,
    LAYER_INPUT_NORM,
    /** Of a layer: the product that gates what it is told, the one behind it, and the norm of that. */
    LAYER_INPUT_GATE,
    LAYER_INPUT_UP,
    POST_LAYER_INPUT_NORM,
    /** Of decoders with streams side by side: what makes the others of the first, and what brings them back; each a stack. */
    STREAM_PROJECTION,
    STREAM_RETURN,
    /** Of a layer: what tells from the first stream how streams are mixed, its norm, and the coefficients before and behind. */
    STREAM_ROUTER,
    STREAM_ROUTER_NORM,
    STREAM_PREDICTION,
    STREAM_CORRECTION,
    /** What multiplies the first stream, number by number, before the layer is told of its token. */
    STREAM_SCALE,
    /** Two narrow products beside attention, and the norm of what they give. */
    LAUREL_DOWN,
    LAUREL_UP,
    LAUREL_NORM,
    /** A number that multiplies what a layer leaves. */
    LAYER_SCALE,
    FINAL_NORM,
    OUTPUT,
    /** What makes of hidden numbers those that logits are made of, and the norm behind it. */
    OUTPUT_TRANSFORM,
    OUTPUT_TRANSFORM_NORM,
    ATTENTION_NORM,
    POST_ATTENTION_NORM,
    FEED_FORWARD_NORM,
    POST_FEED_FORWARD_NORM,
    QUERY,
    KEY,
    VALUE,
    /** Query, key and value in one. */
    QUERY_KEY_VALUE,
    /** What gates the heads' outputs, where it is not with the queries. */
    ATTENTION_GATE,
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
    /** Queries, keys and values of a delta net, where each has a product. */
    DELTA_QUERY,
    DELTA_KEY,
    DELTA_VALUE,
    /** The first and the second of two products in the place of one. */
    DELTA_GATE_DOWN,
    DELTA_GATE_UP,
    DELTA_A_DOWN,
    DELTA_A_UP,
    /** Both of a delta net in one, b before a, those of a key head together. */
    DELTA_B_A,
    /** How fast a delta net's states decay: a negative number for each head. */
    DELTA_RATE,
    /** The logarithm of its negative. */
    DELTA_RATE_LOGARITHM,
    DELTA_TIME_BIAS,
    DELTA_NORM,
    DELTA_OUTPUT,
    /** Gates, values, both vectors of the state, and times of a state space, in one. */
    SPACE_INPUT,
    /** How fast a state space's states decay: a negative number for each head. */
    SPACE_RATE,
    /** The logarithm of its negative. */
    SPACE_RATE_LOGARITHM,
    SPACE_TIME_BIAS,
    /** What of a head's value goes past its state. */
    SPACE_SKIP,
    SPACE_NORM,
    SPACE_OUTPUT,
    /** What tells of convolved channels how long a token takes, and both vectors of the states. */
    SCAN_INPUT,
    /** What makes the times of all channels of a few numbers. */
    SCAN_TIME,
    SCAN_TIME_NORM,
    /** Of what is written to states, and of what reads them. */
    SCAN_B_NORM,
    SCAN_C_NORM,
    /** A convolution along the sequence. */
    CONVOLUTION,
    /** That of queries, of keys and of values, where each has one. */
    CONVOLUTION_QUERY,
    CONVOLUTION_KEY,
    CONVOLUTION_VALUE,
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
    /** What makes the queries of an index of positions from a compressed query. */
    INDEX_QUERY,
    INDEX_QUERY_NORM,
    INDEX_KEY,
    INDEX_KEY_NORM,
    /** What makes the weights of an index's heads. */
    INDEX_WEIGHT,
    /** What tokens give to keys of several tokens, its gates, what is added to these by place, and the keys' norm; the same of an index. */
    COMPRESSED_VECTOR,
    COMPRESSED_GATE,
    COMPRESSED_BIAS,
    COMPRESSED_NORM,
    INDEX_COMPRESSED_VECTOR,
    INDEX_COMPRESSED_GATE,
    INDEX_COMPRESSED_BIAS,
    INDEX_COMPRESSED_NORM,
    /** The narrow product of each group of heads. */
    GROUP_OUTPUT,
    /** What makes coefficients of streams before attention, before a feed-forward and behind all layers: matrix, bias and scale of each. */
    ATTENTION_CONNECTION,
    ATTENTION_CONNECTION_BIAS,
    ATTENTION_CONNECTION_SCALE,
    FEED_FORWARD_CONNECTION,
    FEED_FORWARD_CONNECTION_BIAS,
    FEED_FORWARD_CONNECTION_SCALE,
    OUTPUT_CONNECTION,
    OUTPUT_CONNECTION_BIAS,
    OUTPUT_CONNECTION_SCALE,
    /** The experts of each token. */
    ROUTER_TABLE,
    GATE,
    UP,
    /** Gate and up in one. */
    GATE_UP,
    /** The same with up first. */
    UP_GATE,
    DOWN,
    ROUTER,
    ROUTER_CORRECTION,
    /** The weight of the norm before a router. */
    ROUTER_NORM,
    /** A number for each expert that multiplies its weight. */
    EXPERT_SCALE,
    /** Behind a dense feed-forward that has experts beside it. */
    POST_DENSE_NORM,
    PRE_EXPERTS_NORM,
    POST_EXPERTS_NORM,
    EXPERT_GATE,
    EXPERT_UP,
    EXPERT_GATE_UP,
    EXPERT_DOWN,
    /** What is added to the sum of the experts, whichever were chosen. */
    EXPERTS_BIAS,
    /** What brings the stream to the numbers that experts read, and what they give back to it. */
    EXPERTS_INPUT,
    EXPERTS_OUTPUT,
    SHARED_GATE,
    SHARED_UP,
    /** Gate and up of the shared expert in one. */
    SHARED_GATE_UP,
    SHARED_DOWN,
    SHARED_EXPERT_GATE
}
