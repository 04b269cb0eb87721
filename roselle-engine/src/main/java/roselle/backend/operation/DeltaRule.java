package roselle.backend.operation;

import org.jspecify.annotations.Nullable;
import roselle.backend.memory.Buffer;

/**
 * A gated delta rule (Yang et al., 2025): each value head has a state {@code S} {@code [keySize, valueSize]}, which begins as
 * zeros, and for each token
 * {@code S' = e^g S; d = beta (v - S'^T k); S = S' + k d^T; output = S^T q}.
 *
 * <p>Queries and keys are divided by their Euclidean norm, queries by the root of {@code keySize} besides;
 * {@code g = rate * softplus(a + timeBias)} and {@code beta = strength * sigmoid(b)} are of each value
 * head.
 *
 * <p>With decays of channels (Kimi Delta Attention; Kimi Team, 2025) {@code a}, {@code timeBias} and so {@code g} are of each number
 * of a key, {@code rate} is of each head: {@code S' = diag(e^g) S}. With a bound {@code g = least * sigmoid(-rate (a + timeBias))}, so
 * that no channel is gone at once (Ling 3).
 *
 * <p>A selective state space is the same recurrence without a correction, see {@link Space}.
 *
 * @param group index of the {@link roselle.backend.memory.KvGroup} whose states these are
 * @param layer index among the layers of that group
 * @param rate F32, {@code [valueHeads]}, below 0
 * @param timeBias F32, {@code [decays]}
 * @param space null for a delta rule
 * @param strength 1, or 2 where corrections may overshoot
 * @param least bound of {@code g} of channels, below 0; 0 for none; where heads have one decay each it does not count
 */
public record DeltaRule(
        int group,
        int layer,
        DeltaHeads heads,
        Buffer rate,
        Buffer timeBias,
        @Nullable Space space,
        float strength,
        float least) {
    /** Added to the square of a norm before its root is taken. */
    public static final float EPSILON = 1e-6f;

    /** With corrections that are taken once at most. */
    public DeltaRule(int group, int layer, DeltaHeads heads, Buffer rate, Buffer timeBias, @Nullable Space space) {
        this(group, layer, heads, rate, timeBias, space, 1f, 0f);
    }

    /** A delta rule. */
    public DeltaRule(int group, int layer, DeltaHeads heads, Buffer rate, Buffer timeBias) {
        this(group, layer, heads, rate, timeBias, null);
    }

    /**
     * What makes the rule a selective state space with one decay for each head (Mamba 2; Dao and Gu, 2024):
     * {@code t = clamp(softplus(a + timeBias), shortest, longest); g = rate * t; d = t v; output = S^T q + skip v}, with queries
     * (its {@code C}) and keys (its {@code B}) as they are; {@code b} is not looked at.
     *
     * @param skip F32, {@code [valueHeads]}
     * @param shortest least time that a token takes, 0 or more
     * @param longest most time; positive infinity for no bound
     */
    public record Space(Buffer skip, float shortest, float longest) {
        public Space {
            if (!(shortest >= 0 && longest >= shortest)) {
                throw new IllegalArgumentException("times of a state space from " + shortest + " to " + longest
                        + ", expected 0 or more, in order");
            }
        }
    }
}
