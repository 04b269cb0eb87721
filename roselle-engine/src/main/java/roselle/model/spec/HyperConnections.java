package roselle.model.spec;

import roselle.backend.operation.Connection;

/**
 * Residual streams that each half of a layer reads as a weighed sum, and that go on as weighed sums of each other and of what it gives
 * back ({@link roselle.backend.operation.Connection}): DeepSeek V4, Hunyuan 4.
 *
 * @param count streams
 * @param rounds of the division by sums of rows and columns; 0 where each stream goes on as itself
 * @param taken how much each takes of what a half gives
 * @param endsAsMean whether the mean of all is read at the end, and no weighed sum (GLM 5.3)
 */
public record HyperConnections(int count, int rounds, float epsilon, Connection.Taken taken, boolean endsAsMean) {
    private static final int MOST = 64;

    /** Of which a weighed sum is read at the end. */
    public HyperConnections(int count, int rounds, float epsilon, Connection.Taken taken) {
        this(count, rounds, epsilon, taken, false);
    }

    public HyperConnections {
        if (count < 1 || count > MOST || rounds < 0) {
            throw new IllegalArgumentException(
                    "impossible hyper-connections: " + count + " streams, " + rounds + " rounds");
        }
    }

    /** Numbers of a row beside the streams: what a half gives, all streams twice, and all of them normalised. */
    int vectors() {
        return 3 * count + 1;
    }

    /** Products of a row. */
    public int products() {
        return Connection.products(count, rounds, true);
    }

    /** Scales of products: of what is read, of what is taken, and of how streams go on in each other. */
    public int scales() {
        return rounds == 0 ? 2 : 3;
    }

    /** Coefficients of a row. */
    public int coefficients() {
        return count * (count + 2);
    }
}
