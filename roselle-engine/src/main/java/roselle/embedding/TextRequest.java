package roselle.embedding;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The texts of one caller on their way through steps; written by the engine's thread alone, but for the result. */
final class TextRequest {
    final List<EncoderInput> inputs;
    final EncoderOutput output; // what becomes of each
    final String group; // whose they are
    final CompletableFuture<List<float[]>> future = new CompletableFuture<>();
    private final long deadline; // of System.nanoTime
    private final boolean hasDeadline;
    private final List<float[]> results;
    private int given; // texts that are in a step or behind one

    TextRequest(List<EncoderInput> inputs, EncoderOutput output, long deadlineNanos, String group) {
        this.inputs = List.copyOf(inputs);
        this.output = output;
        this.group = group;
        hasDeadline = deadlineNanos > 0;
        deadline = System.nanoTime() + deadlineNanos;
        results = new ArrayList<>(inputs.size());
    }

    /** Whether nobody waits for it any more, or not for longer than now. */
    boolean isExpired(long now) {
        return hasDeadline && now - deadline > 0;
    }

    boolean hasNext() {
        return given < inputs.size();
    }

    EncoderInput peek() {
        return inputs.get(given);
    }

    EncoderInput next() {
        return inputs.get(given++);
    }

    /** Texts that no step has. */
    int left() {
        return inputs.size() - given;
    }

    /** Takes the results in the order in which texts were given; the last one ends the request. */
    void add(float[] result) {
        results.add(result);
        if (results.size() == inputs.size()) {
            future.complete(results);
        }
    }
}
