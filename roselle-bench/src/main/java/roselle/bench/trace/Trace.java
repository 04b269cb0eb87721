package roselle.bench.trace;

import java.util.List;
import roselle.api.InvalidRequestException;

/**
 * Requests in the order of their arrival, the first one at second 0.
 *
 * @param name of the file or of the process that made it
 * @param format in words, such as {@code azure}
 * @param blockTokens of each named block of a prompt; 0 where the trace names none
 * @param skipped rows left out because they failed when they were recorded or are empty
 */
public record Trace(String name, String format, int blockTokens, List<TraceEntry> entries, int skipped) {
    public Trace {
        entries = List.copyOf(entries);
        if (entries.isEmpty()) {
            throw new InvalidRequestException(name + " has no request with a prompt and an answer");
        }
    }

    /** Whether requests with a common beginning can be told. */
    public boolean hasBlocks() {
        return blockTokens > 0;
    }

    /** Prompt tokens that an earlier request began with, as the blocks tell: what a prefix cache without limits can find. */
    public long sharedTokens() {
        var sharing = new PrefixSharing(blockTokens);
        return entries.stream().mapToLong(sharing::add).sum();
    }

    /** The first requests only. */
    public Trace first(int count) {
        return new Trace(name, format, blockTokens, entries.subList(0, Math.min(count, entries.size())), skipped);
    }

    /** The same arrivals with lengths cut. */
    public Trace within(LengthLimits limits) {
        List<TraceEntry> cut = entries.stream()
                .map(entry -> new TraceEntry(
                        entry.arrivalSeconds(),
                        limits.input(entry.inputTokens()),
                        limits.output(entry.outputTokens()),
                        entry.blocks()))
                .toList();
        return new Trace(name, format, blockTokens, cut, skipped);
    }

    /** From the first arrival to the last. */
    public double seconds() {
        return entries.getLast().arrivalSeconds();
    }
}
