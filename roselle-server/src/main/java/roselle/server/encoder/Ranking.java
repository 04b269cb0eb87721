package roselle.server.encoder;

import java.util.List;

/**
 * How well texts fit to a query.
 *
 * @param scores of the texts, in their order
 * @param tokens of all pairs
 */
public record Ranking(List<Double> scores, int tokens) {
    public Ranking {
        scores = List.copyOf(scores);
    }

    /** The places of the texts, the best first. */
    public List<Integer> order() {
        return Scores.order(scores);
    }
}
