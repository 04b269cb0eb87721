package roselle.bench.stage;

import java.util.ArrayList;
import java.util.List;
import roselle.api.InvalidRequestException;
import roselle.bench.backend.Sampling;
import roselle.bench.trace.PromptMode;
import roselle.bench.trace.Trace;
import roselle.bench.trace.TraceEntry;

/**
 * Offline throughput: all prompts at once, of one length, with answers of one length.
 *
 * @param repeats after one that warms up and is not counted
 */
public record OfflinePlan(int prompts, int inputTokens, int outputTokens, Sampling sampling, long seed, int repeats) {
    public OfflinePlan {
        if (prompts < 1 || inputTokens < 1 || outputTokens < 1 || repeats < 1) {
            throw new InvalidRequestException("there are " + prompts + " prompts of " + inputTokens + " tokens with "
                    + outputTokens + " of answer, " + repeats + " times: each has to be at least 1");
        }
    }

    /** Complains if a prompt and its answer are longer than a context; 0 is one that is not known. */
    public void demandFits(int context) {
        if (context > 0 && inputTokens + outputTokens > context) {
            throw new InvalidRequestException("prompts of " + inputTokens + " tokens and answers of " + outputTokens
                    + " do not fit the model's context of " + context + ": shorten one");
        }
    }

    /** The requests as a trace: all at second 0. */
    Trace trace() {
        var entries = new ArrayList<TraceEntry>();
        for (int i = 0; i < prompts; i++) {
            entries.add(new TraceEntry(0, inputTokens, outputTokens, List.of()));
        }
        return new Trace("offline", "constant", 0, entries, 0);
    }

    /** Prompts of a repeat, each repeat with its own; −1 is the one that warms up. */
    public List<int[]> prompts(PromptSource source, int repeat) {
        return source.ids(trace(), PromptMode.INDEPENDENT, seed + repeat);
    }
}
