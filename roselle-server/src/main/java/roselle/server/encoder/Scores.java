package roselle.server.encoder;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/** Logits of classifiers as probabilities, and the order that scores give. */
public final class Scores {
    private Scores() {}

    /** The logits as they are, or what they make of one label, which a text has or not, or of several, of which it has one. */
    public static List<Double> of(float[] logits, boolean isRaw) {
        var scores = new ArrayList<Double>(logits.length);
        double most = Float.NEGATIVE_INFINITY;
        for (float logit : logits) {
            scores.add((double) logit);
            most = Math.max(most, logit);
        }
        if (isRaw) {
            return scores;
        }
        return logits.length == 1 ? List.of(sigmoid(logits[0])) : softmax(scores, most);
    }

    private static double sigmoid(double logit) {
        return 1 / (1 + Math.exp(-logit));
    }

    private static List<Double> softmax(List<Double> logits, double most) {
        double sum =
                logits.stream().mapToDouble(logit -> Math.exp(logit - most)).sum();
        return logits.stream().map(logit -> Math.exp(logit - most) / sum).toList();
    }

    /** The places of scores, the highest first; of equal ones that which came first. */
    public static List<Integer> order(List<Double> scores) {
        return IntStream.range(0, scores.size())
                .boxed()
                .sorted(Comparator.comparingDouble(place -> -scores.get(place)))
                .toList();
    }
}
