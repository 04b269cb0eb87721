package roselle.embedding;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * What becomes of an encoder's last hidden states.
 *
 * @param tokenSteps of each token, before the pooling
 * @param steps behind the pooling
 * @param labels what the numbers of a classifier stand for; empty where the result is an embedding
 * @param isOfVocabulary whether rows are the logits of masked tokens, and the result a vector of which few numbers are not 0
 */
record EncoderOutput(
        List<OutputStep> tokenSteps,
        Pooling pooling,
        List<OutputStep> steps,
        List<String> labels,
        boolean isOfVocabulary) {
    EncoderOutput(List<OutputStep> tokenSteps, Pooling pooling, List<OutputStep> steps, List<String> labels) {
        this(tokenSteps, pooling, steps, labels, false);
    }

    /** Of the logits of masked tokens. */
    static EncoderOutput ofVocabulary(OutputStep behindPooling) {
        return new EncoderOutput(List.of(), Pooling.MAX, List.of(behindPooling), List.of(), true);
    }

    /** What is kept of a result until it is taken. */
    float[] kept(float[] result) {
        return isOfVocabulary ? SparsePairs.of(result) : result;
    }

    /** With hidden states that are pooled as they are. */
    EncoderOutput(Pooling pooling, List<OutputStep> steps, List<String> labels) {
        this(List.of(), pooling, steps, labels);
    }

    EncoderOutput {
        tokenSteps = List.copyOf(tokenSteps);
        steps = List.copyOf(steps);
        labels = List.copyOf(labels);
    }

    /** Whether a result needs the hidden states of the first token alone. */
    boolean takesFirst() {
        return pooling == Pooling.CLS;
    }

    /** Whether a result needs those of the last token alone. */
    boolean takesLast() {
        return pooling == Pooling.LAST;
    }

    /** Whether each token has a result, one behind the other. */
    boolean isOfTokens() {
        return pooling == Pooling.TOKENS;
    }

    boolean isClassifier() {
        return !labels.isEmpty();
    }

    /** Numbers of a result, from hidden states of so many. */
    int width(int hidden) {
        return width(steps, width(tokenSteps, hidden));
    }

    private static int width(List<OutputStep> steps, int before) {
        int width = before;
        for (OutputStep step : steps) {
            width = step.width(width);
        }
        return width;
    }

    /** The result of the hidden states of some tokens, {@code count} rows of {@code width} numbers from {@code first} on. */
    float[] of(MemorySegment states, int first, int count, int width) {
        if (tokenSteps.isEmpty()) {
            return apply(steps, pooling.pool(states, first, count, width));
        }
        int inner = width(tokenSteps, width);
        var rows = new float[count * inner];
        for (int token = 0; token < count; token++) {
            float[] row = states.asSlice((long) (first + token) * width * Float.BYTES, (long) width * Float.BYTES)
                    .toArray(JAVA_FLOAT);
            System.arraycopy(apply(tokenSteps, row), 0, rows, token * inner, inner);
        }
        return apply(steps, pooling.pool(MemorySegment.ofArray(rows), 0, count, inner));
    }

    private static float[] apply(List<OutputStep> steps, float[] before) {
        float[] vector = before;
        for (OutputStep step : steps) {
            vector = step.apply(vector);
        }
        return vector;
    }
}
