package roselle.backend.operation;

/**
 * How coefficients of residual streams follow from products of them (manifold-constrained hyper-connections; Xie et al., 2026).
 *
 * <p>A row has, for {@code n} streams, {@code n} numbers for what is read of them, and where something is given back, {@code n} for how
 * much of it each stream takes, and {@code n * n} for how streams go on in each other. What is read is {@code sigmoid + epsilon}, what is
 * taken {@code 2 sigmoid}; the square is a softmax of each row plus epsilon, whose columns and then, in turns, rows and columns are
 * divided by their sums plus epsilon (Sinkhorn and Knopp, 1967).
 *
 * @param streams how many there are
 * @param rounds how often columns are divided by their sums; 0 where streams are only read
 * @param givenFirst whether what is given back lies before the streams among the vectors that are mixed, else behind them
 */
public record Connection(int streams, int rounds, float epsilon, boolean givenFirst) {
    public Connection {
        if (streams < 1 || rounds < 0) {
            throw new IllegalArgumentException(
                    "impossible connection of " + streams + " streams in " + rounds + " rounds");
        }
    }

    /** Products of a row. */
    public int products() {
        return rounds == 0 ? streams : streams * (streams + 2);
    }

    /** Coefficients of a row: of what is read, then for each stream of all that is mixed to it. */
    public int coefficients() {
        return rounds == 0 ? streams : streams * (streams + 2);
    }
}
