package roselle.bench.backend;

import roselle.api.InvalidRequestException;

/**
 * How tokens are drawn in a run; the articles' values are the default.
 *
 * @param topK 0 keeps all
 * @param ignoresEos whether answers have the length of the trace, whatever the model would say; one with a format ends where that
 *     allows nothing more
 */
public record Sampling(double temperature, double topP, int topK, boolean ignoresEos, AnswerFormat format) {
    public static final Sampling DEFAULT = new Sampling(0.7, 0.9, 50, true);

    /** Of any text. */
    public Sampling(double temperature, double topP, int topK, boolean ignoresEos) {
        this(temperature, topP, topK, ignoresEos, AnswerFormat.TEXT);
    }

    public Sampling {
        boolean isPossible = temperature >= 0 && temperature <= 100 && topP > 0 && topP <= 1 && topK >= 0;
        if (!isPossible) {
            throw new InvalidRequestException("sampling at temperature " + temperature + ", top-p " + topP + ", top-k "
                    + topK + " is not possible: they are 0 to 100, above 0 to 1, and 0 or more");
        }
    }
}
