package roselle.model.spec;

import roselle.backend.operation.Activation;

/**
 * What each layer is told of a token beside the residual stream (Gemma 3n's per-layer embeddings): numbers of a table that belong
 * to token and layer, mixed with a product of the token's embedding.
 *
 * @param size numbers for each layer
 * @param tokens that the table has rows for; others have that of token 0
 * @param gate of the product of the stream that they are multiplied with
 */
public record LayerInputs(int size, int tokens, Activation gate) {
    public LayerInputs {
        if (size < 1) {
            throw new IllegalArgumentException("layers are told " + size + " numbers of a token, expected 1 or more");
        }
    }
}
