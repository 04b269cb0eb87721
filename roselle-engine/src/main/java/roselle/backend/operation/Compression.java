package roselle.backend.operation;

import roselle.backend.memory.Buffer;

/**
 * How one key is made of several tokens (compressed sparse attention; DeepSeek-AI, 2026): channel by channel, the mean of what each
 * token gives, weighed by a softmax over the tokens of its gates; the mean is normalised, and its last numbers turn by the position of
 * the first token.
 *
 * <p>Where keys overlap, each token gives two vectors: the first to the key behind its own, the second to its own, so that a key is made
 * of twice as many tokens; of the first key there is nothing before.
 *
 * @param tokens group and layer of what tokens give: keys are the vectors, values their gates
 * @param keys group and layer of the keys, which knows of how many tokens each is made; their norm and rotation
 * @param bias F32 {@code [tokens, vectors * size]}, added to the gates of a token by its place among those of its key
 */
public record Compression(AttentionLayer tokens, AttentionLayer keys, boolean overlaps, Buffer bias) {
    /** Numbers of a key. */
    public int size() {
        return keys.heads().keySize();
    }

    /** Numbers of what a token gives. */
    public int given() {
        return tokens.heads().keySize();
    }
}
