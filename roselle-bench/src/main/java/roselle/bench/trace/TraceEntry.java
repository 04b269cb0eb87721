package roselle.bench.trace;

import java.util.List;

/**
 * One request of a trace.
 *
 * @param arrivalSeconds since the first request of the trace
 * @param inputTokens of the prompt
 * @param outputTokens of the answer
 * @param blocks names of the prompt's blocks in order; equal names are equal text. Empty where the trace does not tell
 */
public record TraceEntry(double arrivalSeconds, int inputTokens, int outputTokens, List<Long> blocks) {
    static final List<Long> NO_BLOCKS = List.of();

    public TraceEntry {
        blocks = List.copyOf(blocks);
    }

    TraceEntry arrivingAt(double seconds) {
        return new TraceEntry(seconds, inputTokens, outputTokens, blocks);
    }
}
