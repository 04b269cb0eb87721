package roselle.sampling;

/**
 * Draws one of some weighted tokens: that whose {@link TokenNoise} divided by its weight is least, of equal ones the lowest id.
 *
 * <p>A token wins with its share of the weights, for noise / weight is exponential with the weight as its rate (Gumbel-max
 * sampling is the same after a logarithm). What order tokens enter in, and which others there are, changes the noise of none: two
 * models that weigh tokens alike mostly draw the same one with the same seed and position.
 */
final class ExponentialRace {
    /** More than what rounding may add to a product of bound and weight. */
    private static final double SLACK = 1 + 1e-9;

    private final float[] most; // the largest logit of each span
    private long seed;
    private int position;
    private double best;
    private int winner;
    private int span; // the one that was looked at last
    private long spanBits;
    private double bound; // of its noise

    ExponentialRace(int vocabulary) {
        most = new float[(vocabulary + TokenNoise.SPAN - 1) >>> TokenNoise.SPAN_SHIFT];
    }

    void start(long seed, int position) {
        this.seed = seed;
        this.position = position;
        best = Double.POSITIVE_INFINITY;
        winner = -1;
        span = -1;
    }

    /** The id that won; -1 where none has entered. */
    int winner() {
        return winner;
    }

    /** Whether a token of the span may win that has the weight or less. */
    boolean isOpen(int of, double weight) {
        if (span != of) {
            span = of;
            spanBits = TokenNoise.spanBits(seed, position, of);
            bound = TokenNoise.bound(spanBits);
        }
        return bound <= best * weight * SLACK;
    }

    /** Lets a token take part; its weight is at most 1 and no less than 1e-304. */
    void enter(int id, double weight) {
        if (!isOpen(id >>> TokenNoise.SPAN_SHIFT, weight)) {
            return;
        }
        double time = TokenNoise.of(seed, position, id, spanBits) / weight;
        if (time < best || (time == best && id < winner)) {
            best = time;
            winner = id;
        }
    }

    /** Lets all tokens take part that are possible, by their logits, of which {@code max} is the largest. */
    void enterAll(float[] logits, float max, double temperature) {
        int spans = (logits.length + TokenNoise.SPAN - 1) >>> TokenNoise.SPAN_SHIFT;
        int likeliest = 0;
        for (int of = 0; of < spans; of++) {
            most[of] = largest(logits, of << TokenNoise.SPAN_SHIFT);
            likeliest = most[of] == max ? of : likeliest;
        }
        enterSpan(logits, likeliest, max, temperature); // leaves little to the others
        for (int of = 0; of < spans; of++) {
            if (most[of] != Float.NEGATIVE_INFINITY && isOpen(of, weight(most[of], max, temperature))) {
                enterSpan(logits, of, max, temperature);
            }
        }
    }

    private void enterSpan(float[] logits, int of, float max, double temperature) {
        int first = of << TokenNoise.SPAN_SHIFT;
        int end = Math.min(logits.length, first + TokenNoise.SPAN);
        for (int id = first; id < end; id++) {
            if (logits[id] != Float.NEGATIVE_INFINITY) {
                enter(id, weight(logits[id], max, temperature));
            }
        }
    }

    private static float largest(float[] logits, int first) {
        int end = Math.min(logits.length, first + TokenNoise.SPAN);
        float most = logits[first];
        for (int id = first + 1; id < end; id++) {
            most = Math.max(most, logits[id]);
        }
        return most;
    }

    static double weight(float logit, float max, double temperature) {
        return Exponential.of(((double) logit - max) / temperature);
    }
}
