package roselle.embedding;

import java.util.List;

/**
 * What becomes of an encoder's last hidden states.
 *
 * @param steps behind the pooling
 * @param labels what the numbers of a classifier stand for; empty where the result is an embedding
 */
record EncoderOutput(Pooling pooling, List<OutputStep> steps, List<String> labels) {
    EncoderOutput {
        steps = List.copyOf(steps);
        labels = List.copyOf(labels);
    }

    boolean isClassifier() {
        return !labels.isEmpty();
    }

    /** Numbers of a result, from hidden states of so many. */
    int width(int hidden) {
        int width = hidden;
        for (OutputStep step : steps) {
            width = step.width(width);
        }
        return width;
    }

    /** The result of a pooled vector. */
    float[] of(float[] pooled) {
        float[] vector = pooled;
        for (OutputStep step : steps) {
            vector = step.apply(vector);
        }
        return vector;
    }
}
