package roselle.model.spec;

/**
 * Residual streams that each half of a layer reads as a weighed sum, and that go on as weighed sums of each other and of what it gives
 * back ({@link roselle.backend.operation.Connection}): DeepSeek V4.
 *
 * @param count streams
 * @param rounds of the division by sums of rows and columns
 */
public record HyperConnections(int count, int rounds, float epsilon) {
    private static final int MOST = 64;

    public HyperConnections {
        if (count < 1 || count > MOST || rounds < 1) {
            throw new IllegalArgumentException(
                    "impossible hyper-connections: " + count + " streams, " + rounds + " rounds");
        }
    }

    /** Numbers of a row beside the streams: what a half gives, all streams twice, and all of them normalised. */
    int vectors() {
        return 3 * count + 1;
    }

    /** Products of a row, and coefficients. */
    public int coefficients() {
        return count * (count + 2);
    }
}
