package roselle.batch;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import roselle.api.FailureKind;

/** What a step sampled: for each entry of its batch some tokens, or why the entry failed; reused from step to step. */
public final class StepResult {
    private final int[] tokens; // [outputs]
    private final int[] start; // [entries + 1]
    private final Outcome.@Nullable Failed[] failures; // [entries]
    private int entries;

    public StepResult(int maxSequences, int maxOutputs) {
        tokens = new int[maxOutputs];
        start = new int[maxSequences + 1];
        failures = new Outcome.Failed[maxSequences];
    }

    public void clear() {
        Arrays.fill(failures, 0, entries, null);
        entries = 0;
    }

    /** Begins the next entry; its tokens follow by {@link #append}. */
    public void beginEntry() {
        start[entries + 1] = start[entries];
        entries++;
    }

    public void append(int token) {
        tokens[start[entries]++] = token;
    }

    /** Marks the entry begun last as failed. */
    public void fail(FailureKind kind, String message) {
        failures[entries - 1] = new Outcome.Failed(kind, message);
    }

    public int entries() {
        return entries;
    }

    public int count(int entry) {
        return start[entry + 1] - start[entry];
    }

    public int token(int entry, int index) {
        return tokens[start[entry] + index];
    }

    /** Why an entry failed, or null where it did not. */
    public Outcome.@Nullable Failed failure(int entry) {
        return failures[entry];
    }
}
