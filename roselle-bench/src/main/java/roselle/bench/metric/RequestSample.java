package roselle.bench.metric;

import java.util.Optional;

/**
 * What was seen of one request. All times are nanoseconds on one clock.
 *
 * @param index in the trace
 * @param promptTokens that were sent
 * @param wantedTokens that were asked for
 * @param intended when the trace says it starts: latencies count from here, so a generator that falls behind hides nothing
 * @param started when the generator began to send it
 * @param chunks when each event with a token was read
 * @param ended when the last event of the answer was read, or the failure seen
 * @param usage what the endpoint says it did; empty where it does not tell
 * @param failure in one sentence; empty for an answer that came to its end
 */
public record RequestSample(
        int index,
        int promptTokens,
        int wantedTokens,
        long intended,
        long started,
        ChunkTimes chunks,
        long ended,
        Optional<TokenUsage> usage,
        Optional<String> failure) {
    /**
     * Tokens as the endpoint counts them.
     *
     * @param cached tokens of the prompt that came from a cache; −1 where it does not tell
     */
    public record TokenUsage(int prompt, int completion, int cached) {}

    public boolean hasFailed() {
        return failure.isPresent();
    }

    /** Tokens of the answer: from the endpoint's usage, else one for each chunk. */
    public int tokens() {
        return usage.map(TokenUsage::completion).orElse(chunks.count());
    }

    public boolean hasFirst() {
        return chunks.count() > 0;
    }

    /** Time to the first token: t_first − t_start, in milliseconds. */
    public double ttftMillis() {
        return millis(chunks.at(0) - intended);
    }

    /** Time to the end: t_end − t_start, in milliseconds. */
    public double e2eMillis() {
        return millis(ended - intended);
    }

    /** Whether there is a time per output token: it needs two tokens. */
    public boolean hasTpot() {
        return hasFirst() && tokens() > 1;
    }

    /** Time per output token: (t_end − t_first) / (N − 1), in milliseconds. */
    public double tpotMillis() {
        return millis(ended - chunks.at(0)) / (tokens() - 1);
    }

    /** The gaps between one chunk and the next, in milliseconds. */
    public double[] gapsMillis() {
        return chunks.gapsMillis();
    }

    /** How late the generator itself was, in milliseconds. */
    public double latenessMillis() {
        return millis(started - intended);
    }

    static double millis(long nanos) {
        return nanos / 1e6;
    }
}
