package roselle.backend.operation;

import roselle.backend.memory.Buffer;

/**
 * A gated delta rule (Yang et al., 2025): each value head has a state {@code S} {@code [keySize, valueSize]}, which begins as
 * zeros, and for each token
 * {@code S' = e^g S; d = beta (v - S'^T k); S = S' + k d^T; output = S^T q}.
 *
 * <p>Queries and keys are divided by their Euclidean norm, queries by the root of {@code keySize} besides;
 * {@code g = rate * softplus(a + timeBias)} and {@code beta = sigmoid(b)} are of each value head.
 *
 * @param group index of the {@link roselle.backend.memory.KvGroup} whose states these are
 * @param layer index among the layers of that group
 * @param rate F32, {@code [valueHeads]}, below 0
 * @param timeBias F32, {@code [valueHeads]}
 */
public record DeltaRule(int group, int layer, DeltaHeads heads, Buffer rate, Buffer timeBias) {
    /** Added to the square of a norm before its root is taken. */
    public static final float EPSILON = 1e-6f;
}
