package roselle.backend.operation;

import org.jspecify.annotations.Nullable;

/**
 * How coefficients of residual streams follow from products of them (manifold-constrained hyper-connections; Xie et al., 2026).
 *
 * <p>A row has, for {@code n} streams, {@code n} numbers for what is read of them, and where something is given back, {@code n} for how
 * much of it each stream takes, and {@code n * n} for how streams go on in each other. What is read is {@code sigmoid + epsilon}, what is
 * taken {@code magnitude sigmoid + offset}; the square is a softmax of each row plus epsilon, whose columns and then, in turns, rows and
 * columns are divided by their sums plus epsilon (Sinkhorn and Knopp, 1967). Without rounds there are no numbers for a square: each
 * stream goes on as itself (Hunyuan 4).
 *
 * @param streams how many there are
 * @param rounds how often columns are divided by their sums; 0 where streams go on as themselves
 * @param taken how much a stream takes of what is given back; null where streams are only read
 * @param givenFirst whether what is given back lies before the streams among the vectors that are mixed, else behind them
 */
public record Connection(
        int streams, int rounds, float epsilon, @Nullable Taken taken, boolean givenFirst) {
    /** Streams that are only read. */
    public static Connection read(int streams, float epsilon) {
        return new Connection(streams, 0, epsilon, null, false);
    }

    /** How much of what is given back a stream takes: {@code magnitude sigmoid + offset}. */
    public record Taken(float magnitude, float offset) {}

    public Connection {
        if (streams < 1 || rounds < 0 || (taken == null && rounds > 0)) {
            throw new IllegalArgumentException(
                    "impossible connection of " + streams + " streams in " + rounds + " rounds");
        }
    }

    /** Products of a row. */
    public int products() {
        return products(streams, rounds, taken != null);
    }

    /** Products of a row, where something is given back or not. */
    public static int products(int streams, int rounds, boolean takes) {
        int square = rounds == 0 ? 0 : streams * streams;
        return takes ? 2 * streams + square : streams;
    }

    /** Coefficients of a row: of what is read, then for each stream of all that is mixed to it. */
    public int coefficients() {
        return taken == null ? streams : streams * (streams + 2);
    }
}
