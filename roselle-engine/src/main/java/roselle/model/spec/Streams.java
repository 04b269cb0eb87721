package roselle.model.spec;

/**
 * Residual streams side by side, of which a layer computes the first and predicts and corrects the others (AltUp; Baykal et al., 2023),
 * with two narrow products beside attention (LAuReL; Menghani et al., 2024): Gemma 3n.
 *
 * @param count streams
 * @param rank numbers between the two narrow products
 * @param scales whether the first stream is multiplied by numbers of its own before the layer is told of its token
 */
public record Streams(int count, int rank, boolean scales) {
    private static final int MOST = 64;

    public Streams {
        if (count < 2 || count > MOST || rank < 1) {
            throw new IllegalArgumentException(
                    "impossible streams: " + count + " of them with " + rank + " numbers beside attention");
        }
    }

    /** What a layer computes in, and the streams that it predicts from. */
    int vectors() {
        return 2 * count + 1;
    }

    /** Numbers of a router's answer, of the coefficients that it leads to, and between the narrow products. */
    int small() {
        return count + coefficients() + rank;
    }

    /** Coefficients of a mix of streams into as many and one, or back. */
    public int coefficients() {
        return count * (count + 1);
    }
}
